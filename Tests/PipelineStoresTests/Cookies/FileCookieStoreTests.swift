import Foundation
import PipelineFiles
import PipelineStoreTesting
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("FileCookieStore", .watched)
struct FileCookieStoreTests {
    private let folder: CookieFolder

    init() throws { folder = try CookieFolder() }

    @Test("It does what every cookie store has to do", arguments: [false, true])
    func conformance(keepsSessionCookies: Bool) async {
        let violations = await CookieStoreConformance {
            let file = folder.url.appending(path: UUID().uuidString)
            return FileCookieStore(file, sessionCookies: keepsSessionCookies ? .kept : .discarded)
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test("What an update has changed is in the file when it returns, equal in all properties")
    func persistence() async throws {
        let store = folder.store()
        var odd = CookieJar.Cookie.lasting("", #"ü"\;="#)
        odd.expiry = Date(timeIntervalSinceReferenceDate: .infinity)
        odd.lastAccessed += 0.1 + 0.2
        odd.sameSite = .lax
        odd.domainAttribute = "test"
        try await store.insert(.lasting("a"), odd, .lasting("b"))
        try await store.update(account: "") { $0.removeAll { $0.name == "a" } }
        let jar = try await store.jar(account: "")
        #expect(jar.cookies.map(\.order) == [1, 2])
        #expect(try await folder.store().jar(account: "") == jar)
    }

    @Test("A store without cookies creates neither a file nor a folder, and only changes write the file")
    func laziness() async throws {
        let file = folder.url.appending(path: "sub/cookies.json")
        let store = FileCookieStore(file)
        _ = try await store.jar(account: "")
        try await store.remove(account: "")
        #expect(try folder.names.isEmpty)
        try await store.insert(.lasting("a"))
        let first = try OpenFile.identity(of: file.path)
        try await store.update(account: "") { _ in }
        try await store.insert(.session("s"))
        #expect(try OpenFile.identity(of: file.path) == first)
        try await store.insert(.lasting("b"))
        #expect(try OpenFile.identity(of: file.path) != first)
    }

    @Test("Files have mode 0600 and created folders mode 0700, and no temporary file remains")
    func modes() async throws {
        let file = folder.url.appending(path: "one/two/cookies.json")
        try await FileCookieStore(file).insert(.lasting("a"))
        #expect(try CookieFolder.mode(of: file) == 0o600)
        #expect(try CookieFolder.mode(of: file.deletingLastPathComponent()) == 0o700)
        #expect(try CookieFolder.mode(of: file.deletingLastPathComponent().deletingLastPathComponent()) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
        #expect(names.sorted() == ["cookies.json", "cookies.json.lock"])
    }

    @Test("A file that others could read is private after a change")
    func wideMode() async throws {
        try await folder.store().insert(.lasting("a"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.file.path)
        try await folder.store().insert(.lasting("b"))
        #expect(try CookieFolder.mode(of: folder.file) == 0o600)
        #expect(try await folder.store().names == ["a", "b"])
    }

    @Test("Discarded cookies of the session live as long as the store, and their values are never written")
    func discarded() async throws {
        let store = folder.store()
        try await store.insert(.lasting("a", "1"), .session("s"), .lasting("b", "2"))
        #expect(try await store.names == ["a", "s", "b"])
        #expect(try await folder.store().names == ["a", "b"])
        #expect(try String(contentsOf: folder.file, encoding: .utf8).contains("canary") == false)
    }

    @Test("Kept cookies of the session are written, and a store that discards them does not read them")
    func kept() async throws {
        try await folder.store(.kept).insert(.lasting("a"), .session("s"))
        #expect(try await folder.store(.kept).names == ["a", "s"])
        #expect(try await folder.store(.discarded).names == ["a"])
    }

    @Test("A file has slashes as they are, so that it is not larger than needed")
    func slashes() async throws {
        try await folder.store().insert(.lasting("a", "//canary//"))
        #expect(try String(contentsOf: folder.file, encoding: .utf8).contains("//canary//"))
    }

    @Test("The file contains no accounts without cookies")
    func removal() async throws {
        let store = folder.store()
        for account in ["ann", "bob"] { try await store.update(account: account) { $0.insert([.lasting("x")]) } }
        try await store.remove(account: "ann")
        try await store.update(account: "bob") { $0.removeAll { _ in true } }
        let text = try String(contentsOf: folder.file, encoding: .utf8)
        #expect(!text.contains("ann") && !text.contains("bob"))
    }

    @Test("An update in a cancelled task is completed")
    func cancellation() async throws {
        let store = folder.store()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.insert(.lasting("a"))
        }
        try await task.value
        #expect(try await folder.store().names == ["a"])
    }

    @Test("Descriptions show the name of the file only")
    func description() async throws {
        let store = folder.store()
        try await store.insert(.lasting("a"))
        var dumped = ""
        dump(store, to: &dumped)
        #expect("\(store)" == #"cookies in the file "cookies.json""#)
        #expect(!dumped.contains("canary") && !dumped.contains(folder.url.path))
    }
}
