import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("FileCookieStore, faults", .watched)
struct FileCookieStoreFaultTests {
    private let folder: CookieFolder

    init() throws { folder = try CookieFolder() }

    /// Expects that every method fails with a code.
    private func expectFailure(
        _ code: CookieStoreError.Code,
        of store: FileCookieStore,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await store.jar(account: "") },
            { try await store.insert(.lasting("new")) },
            { try await store.remove(account: "") },
        ]
        for call in calls {
            let error = await #expect(throws: CookieStoreError.self, sourceLocation: sourceLocation) {
                try await call()
            }
            #expect(error?.code == code, sourceLocation: sourceLocation)
        }
    }

    @Test(
        "A file that is not an intact cookie file is refused and never overwritten, until it is removed",
        arguments: [
            " ", "{", "[]", #"{"a":1}"#, #"{"header":{"format":"other","version":1},"accounts":{}}"#,
            #"{"header":{"format":"pipeline-cookies","version":1}}"#,
            #"{"header":{"format":"pipeline-cookies","version":1},"accounts":{"canary":{}}}"#,
            #"{"header":{"format":"pipeline-cookies","version":2},"accounts":{}}"#,
        ]
    )
    func foreignFile(text: String) async throws {
        try Data(text.utf8).write(to: folder.file)
        let store = folder.store()
        await expectFailure(.malformed, of: store)
        #expect(try Data(contentsOf: folder.file) == Data(text.utf8))
        try await store.remove(account: nil)
        #expect(try folder.names == ["cookies.json.lock"])
        try await store.insert(.lasting("a"))
        #expect(try await folder.store().names == ["a"])
    }

    @Test("A file with a position that leaves no room for later ones is refused", arguments: [Int.max, 1 << 52, -1])
    func position(order: Int) async throws {
        try await folder.store().insert(.lasting("a"))
        let text = try String(contentsOf: folder.file, encoding: .utf8)
        #expect(text.contains(#""order":0"#))
        try Data(text.replacing(#""order":0"#, with: #""order":\#(order)"#).utf8).write(to: folder.file)
        await expectFailure(.malformed, of: folder.store())
    }

    @Test("A file that is damaged after it was read is refused, too")
    func laterDamage() async throws {
        let store = folder.store()
        try await store.insert(.lasting("a"))
        let intact = try Data(contentsOf: folder.file)
        try intact.dropLast(10).write(to: folder.file)
        await expectFailure(.malformed, of: store)
        #expect(try Data(contentsOf: folder.file) == intact.dropLast(10))
        try intact.write(to: folder.file)
        #expect(try await store.names == ["a"])
    }

    @Test("A symbolic link is refused in place of the file and of its lock", arguments: ["", ".lock"])
    func symbolicLink(suffix: String) async throws {
        let target = folder.url.appending(path: "target")
        try await FileCookieStore(target).insert(.lasting("a"))
        let content = try Data(contentsOf: target)
        let link = URL(filePath: folder.file.path + suffix)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        let error = await #expect(throws: CookieStoreError.self) { try await folder.store().insert(.lasting("b")) }
        #expect(error?.code == (suffix.isEmpty ? .unreadable : .notWritable))
        #expect("\(try #require(error))".contains("cookies.json\" is a symbolic link"))
        #expect(try Data(contentsOf: target) == content)
        if suffix.isEmpty { await expectFailure(.unreadable, of: folder.store()) }
    }

    @Test("A symbolic link in place of the temporary file is replaced, and its target stays as it was")
    func temporaryLink() async throws {
        let target = folder.url.appending(path: "target")
        try Data("x".utf8).write(to: target)
        let link = URL(filePath: folder.file.path + ".tmp")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        try await folder.store().insert(.lasting("a"))
        #expect(try Data(contentsOf: target) == Data("x".utf8))
        #expect(try folder.names == ["cookies.json", "cookies.json.lock", "target"])
    }

    @Test("A temporary file that a crash has left is ignored and replaced")
    func leftover() async throws {
        let leftover = URL(filePath: folder.file.path + ".tmp")
        try Data("{".utf8).write(to: leftover)
        let store = folder.store()
        #expect(try await store.names.isEmpty)
        try await store.insert(.lasting("a"))
        #expect(try await folder.store().names == ["a"])
        #expect(try folder.names == ["cookies.json", "cookies.json.lock"])
    }

    @Test("A file larger than 16 MiB is refused, and a change that makes it larger has no effect on lasting cookies")
    func tooLarge() async throws {
        try await folder.store().insert(.lasting("a"))
        let content = try Data(contentsOf: folder.file)
        // Larger than any jar that responses, imports or decoding fill.
        let large = [CookieJar.Cookie.lasting("b", String(repeating: "v", count: CookieFile.maximumByteCount))]
        let store = folder.store()
        let error = await #expect(throws: CookieStoreError.self) {
            try await store.update(account: "") { $0.cookies = large }
        }
        #expect(error?.code == .tooLarge)
        #expect(try await store.names == ["a"])
        #expect(try Data(contentsOf: folder.file) == content)
        let padding = Data(repeating: UInt8(ascii: " "), count: CookieFile.maximumByteCount - content.count)
        try (content + padding).write(to: folder.file)
        #expect(try await folder.store().names == ["a"])
        try (content + padding + Data(" ".utf8)).write(to: folder.file)
        await expectFailure(.tooLarge, of: folder.store())
    }

    @Test("A file of another user is refused, because it may have been planted", .enabled(if: geteuid() == 0))
    func foreignOwner() async throws {
        try await folder.store().insert(.lasting("a"))
        #expect(chown(folder.file.path, 1, 1) == 0)
        await expectFailure(.unreadable, of: folder.store())
        #expect(chown(folder.file.path, 0, 0) == 0)
        #expect(try await folder.store().names == ["a"])
    }

    @Test("A file without bytes has no cookies, and is filled by a change")
    func emptyFile() async throws {
        try Data().write(to: folder.file)
        let store = folder.store()
        #expect(try await store.names.isEmpty)
        try await store.insert(.lasting("a"))
        #expect(try await folder.store().names == ["a"])
    }

    @Test("A removed file takes the cookies of all accounts with it, also those in memory and a temporary file")
    func removeFile() async throws {
        let store = folder.store()
        try await store.insert(.lasting("a"), .session("s"))
        try await store.update(account: "ann") { $0.insert([.session("t")]) }
        try Data("canary".utf8).write(to: URL(filePath: folder.file.path + ".tmp"))
        try await store.remove(account: nil)
        #expect(try await store.names.isEmpty)
        #expect(try await store.jar(account: "ann").cookies.isEmpty)
        #expect(try folder.names == ["cookies.json.lock"])
        try await store.remove(account: nil)
        try await store.insert(.lasting("b"))
        #expect(try await folder.store().names == ["b"])
    }

    @Test("A folder in place of the file cannot be read")
    func directory() async throws {
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: false)
        await expectFailure(.unreadable, of: folder.store())
    }

    @Test("If the file cannot be written, the change is kept in memory, and a later change writes it")
    func failedWrite() async throws {
        let store = folder.store()
        try await store.insert(.lasting("a"))
        let obstacle = URL(filePath: folder.file.path + ".tmp")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        let error = await #expect(throws: CookieStoreError.self) { try await store.insert(.lasting("b")) }
        #expect(error?.code == .notWritable)
        #expect(try await store.names == ["a", "b"])
        #expect(try await folder.store().names == ["a"])
        try FileManager.default.removeItem(at: obstacle)
        try await store.insert(.lasting("c"))
        #expect(try await folder.store().names == ["a", "b", "c"])
    }

    @Test(
        "If the file or its lock cannot be written, the change fails, but is kept in memory",
        arguments: [".tmp", ".lock"]
    )
    func keptInMemory(suffix: String) async throws {
        try await folder.store().insert(.lasting("a"), .lasting("b"))
        let obstacle = URL(filePath: folder.file.path + suffix)
        try? FileManager.default.removeItem(at: obstacle)
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        let store = folder.store()
        // The session cookie replaces a lasting one, as a login may.
        let error = await #expect(throws: CookieStoreError.self) {
            try await store.insert(.lasting("c"), .session("s"), .session("a"))
        }
        #expect(error?.code == .notWritable)
        #expect(try await store.names == ["a", "b", "c", "s"])
        #expect(try await store.jar(account: "").cookies.map { $0.expiry == nil } == [true, false, false, true])
        await #expect(throws: CookieStoreError.self) {
            try await store.update(account: "") { $0.removeAll { ["a", "b"].contains($0.name) } }
        }
        #expect(try await store.names == ["c", "s"])
        try FileManager.default.removeItem(at: obstacle)
        try await store.update(account: "") { _ in }
        #expect(try await folder.store().names == ["c"])
        #expect(try await store.names == ["c", "s"])
    }

    private func pairs(_ store: FileCookieStore) async throws -> Set<String> {
        Set(try await store.jar(account: "").cookies.map { "\($0.name)=\($0.value)" })
    }

    @Test("A change that could not be written is added to what another store writes, which prevails for its cookies")
    func merged() async throws {
        try await folder.store().insert(.lasting("a"), .lasting("b"), .lasting("c"), .lasting("d"))
        let obstacle = URL(filePath: folder.file.path + ".tmp")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        let store = folder.store()
        await #expect(throws: CookieStoreError.self) {
            try await store.update(account: "") { jar in
                jar.insert([.lasting("a", "mine"), .lasting("b", "mine"), .lasting("e", "mine"), .session("s")])
                jar.removeAll { ["c", "d"].contains($0.name) }
            }
        }
        try FileManager.default.removeItem(at: obstacle)
        try await folder.store().insert(.lasting("b", "other"), .lasting("d", "other"), .lasting("f", "other"))
        let expected: Set = ["a=mine", "b=other", "d=other", "e=mine", "f=other"]
        #expect(try await pairs(store) == expected.union(["s=canary"]))
        try await store.update(account: "") { _ in }
        #expect(try await pairs(folder.store()) == expected)
    }

    @Test("If the file cannot be written, kept cookies of the session stay in memory, like all others")
    func keptSessionCookies() async throws {
        let obstacle = URL(filePath: folder.file.path + ".tmp")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        let store = folder.store(.kept)
        await #expect(throws: CookieStoreError.self) { try await store.insert(.session("s")) }
        #expect(try await store.names == ["s"])
    }

    @Test("If the file cannot be replaced, no temporary file with cookies remains")
    func failedReplacement() async throws {
        let file = folder.file
        let error = await #expect(throws: CookieStoreError.self) {
            try await folder.store().update(account: "") { jar in
                try? FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
                jar.insert([.lasting("a")])
            }
        }
        #expect(error?.code == .notWritable)
        #expect(try folder.names == ["cookies.json", "cookies.json.lock"])
    }

    @Test("A folder that is a file makes a change fail")
    func folderIsFile() async throws {
        try Data().write(to: folder.file)
        let store = FileCookieStore(folder.file.appending(path: "cookies.json"))
        await #expect(throws: CookieStoreError.self) { try await store.insert(.lasting("a")) }
    }

    @Test("In a read-only folder, cookies can be read and not changed", .disabled(if: getuid() == 0))
    func readOnlyFolder() async throws {
        try await folder.store().insert(.lasting("a"))
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.url.path)
        let store = folder.store()
        let error = await #expect(throws: CookieStoreError.self) { try await store.insert(.lasting("b")) }
        #expect(error?.code == .notWritable)
        #expect("\(try #require(error))".contains("(errno \(EACCES))"))
        #expect(try await store.names == ["a"])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.url.path)
    }

    @Test("An error shows the name of the file, the reason and the number of the system's error, and no folder")
    func description() {
        let error = CookieStoreError(.notWritable, path: "/secret/folder/cookies.json", POSIXError(.ENOSPC))
        #expect("\(error)" == #"the cookie file "cookies.json" cannot be written (errno 28)"#)
        #expect(error.localizedDescription == "\(error)")
    }
}
