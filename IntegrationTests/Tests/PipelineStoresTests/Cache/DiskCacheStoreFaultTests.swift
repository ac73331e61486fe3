import Foundation
import PipelineCaching
import TestSupport
import Testing

@testable import cachewriter

@Suite("DiskCacheStore, faults", .realTime, .watched)
struct DiskCacheStoreFaultTests {
    private let files: CacheFiles

    init() throws { files = try CacheFiles() }

    @discardableResult
    private func write(_ byteCount: Int, to store: DiskCacheStore, _ index: Int = 0) async throws -> CacheEntry {
        try #require(try await CacheSample.write(CacheSample.entry(CacheSample.keys[index]), byteCount, to: store))
    }

    /// Expects that every method fails with a code.
    private func expectFailure(
        _ code: CacheStoreError.Code,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let store = files.store()
        let entry = CacheSample.entry(CacheSample.keys[0])
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await store.secret() },
            { _ = try await store.entries(for: entry.key) },
            { _ = try await store.body(of: entry) },
            { try await CacheSample.write(entry, 10, to: store) },
            { try await CacheSample.write(entry, 100_000, to: store) },
            { try await store.update(entry) },
            { try await store.remove(entry) },
            { try await store.remove(resource: "") },
            { try await store.remove(account: nil) },
            { _ = try await store.lock(entry.key, for: .seconds(1), at: .now) },
            { try await store.unlock(entry.key, UUID()) },
        ]
        for call in calls {
            let error = await #expect(throws: CacheStoreError.self, sourceLocation: sourceLocation) {
                try await call()
            }
            #expect(error?.code == code, sourceLocation: sourceLocation)
            #expect(error.map { "\($0)".contains(files.url.path) } == false, sourceLocation: sourceLocation)
        }
    }

    // MARK: Modes and links

    @Test(
        "A new folder has mode 0700 and all files have mode 0600; a folder that exists keeps its mode",
        arguments: [nil, 0o755]
    )
    func modes(existing: Int?) async throws {
        if let existing {
            try FileManager.default.createDirectory(
                at: files.url,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: existing]
            )
        }
        let store = files.store()
        // The last store that closes removes two of the files.
        defer { withExtendedLifetime(store) {} }
        try await write(100_000, to: store)
        #expect(try CacheFiles.mode(of: files.url) == existing ?? 0o700)
        let names = try files.names
        #expect(names.count >= 3)
        for name in names { #expect(try CacheFiles.mode(of: files.url.appending(path: name)) == 0o600, "\(name)") }
    }

    @Test("A symbolic link in place of the folder is refused, and nothing is written to its target")
    func linkedFolder() async throws {
        let target = files.url.deletingLastPathComponent().appending(path: "target")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(at: files.url, withDestinationURL: target)
        try await expectFailure(.notAllowed)
        #expect(try FileManager.default.contentsOfDirectory(atPath: target.path).isEmpty)
    }

    @Test("A symbolic link on the way to the folder is followed")
    func linkedParent() async throws {
        let parent = files.url.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent.appending(path: "a"), withIntermediateDirectories: false)
        let link = parent.appending(path: "b")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: parent.appending(path: "a"))
        let entry = try await write(100_000, to: DiskCacheStore(link.appending(path: "http")))
        #expect(try await CacheSample.hasBody(entry, in: DiskCacheStore(parent.appending(path: "a/http"))) == true)
    }

    @Test(
        "A symbolic link in place of the database, a file beside it or the lock is refused",
        arguments: ["cache-2-1.sqlite", "cache-2-1.sqlite-wal", "cache-2-1.sqlite-shm", "lock"]
    )
    func linkedFile(name: String) async throws {
        try await write(10, to: files.store())
        let target = files.url.deletingLastPathComponent().appending(path: "target")
        try Data("x".utf8).write(to: target)
        let database = try files.takeDatabase()
        if name != database.name { try database.content.write(to: files.url.appending(path: database.name)) }
        try FileManager.default.createSymbolicLink(at: files.url.appending(path: name), withDestinationURL: target)
        try await expectFailure(.notAllowed)
        #expect(try Data(contentsOf: target) == Data("x".utf8))
    }

    @Test("A symbolic link in place of a body counts as missing, and its target is not read")
    func linkedBody() async throws {
        let store = files.store()
        let entry = try await write(100_000, to: store)
        let body = try #require(try files.bodies.first)
        let target = files.url.deletingLastPathComponent().appending(path: "target")
        try FileManager.default.moveItem(at: body, to: target)
        try FileManager.default.createSymbolicLink(at: body, withDestinationURL: target)
        #expect(try await store.body(of: entry) == nil)
        #expect(try FileManager.default.fileExists(atPath: target.path) && files.bodies.isEmpty)
    }

    // MARK: Disk

    @Test("A file in place of the folder fails each call, and the next one works when it is gone")
    func fileAsFolder() async throws {
        try Data().write(to: files.url)
        try await expectFailure(.unavailable)
        let store = files.store()
        await #expect(throws: CacheStoreError.self) { try await store.secret() }
        try FileManager.default.removeItem(at: files.url)
        let entry = try await write(100_000, to: store)
        #expect(try await CacheSample.hasBody(entry, in: store) == true)
    }

    @Test("In a read-only folder, responses can be read, and writing fails")
    func readOnly() async throws {
        let output = try await CacheChild("read-only", files.url).output()
        let lines = ["1 found, body true", #"the disk cache "http" denies access (errno 13)"#]
        #expect(output == ["open", "new"].flatMap { name in lines.map { "\(name): \($0)\n" } }.joined())
    }

    @Test("If the disk takes no more bytes, writing fails, reading still works, and writing works when there is room")
    func fullDisk() async throws {
        let child = try CacheChild("full", files.url)
        let output = try await child.output()
        // A file is too large for the process first, and later the log of the database.
        let errors = ["cannot be written (SQLite 778)", "has no space left (errno \(EFBIG))"]
        #expect(
            output == """
                errors: \(errors.map { #"the disk cache "http" "# + $0 })
                readable: true, writable: true

                """
        )
        let store = files.store()
        try await store.remove(account: nil)
        #expect(try files.bodies.isEmpty)
    }

    // MARK: Damage

    @Test(
        "A body whose file is missing or truncated is a missing entry, whose row is removed",
        arguments: [nil, 0, 99_999]
    )
    func damagedBody(length: UInt64?) async throws {
        let store = files.store()
        let entry = try await write(100_000, to: store)
        let other = try await write(100_000, to: store, 1)
        let body = try #require(try files.bodies.first { $0.lastPathComponent.hasPrefix(entry.id.uuidString) })
        if let length {
            try FileHandle(forWritingTo: body).truncate(atOffset: length)
        } else {
            try FileManager.default.removeItem(at: body)
        }
        #expect(try await store.body(of: entry) == nil)
        #expect(try await store.entries(for: entry.key).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: body.path))
        #expect(try await CacheSample.hasBody(other, in: store) == true)
    }

    @Test(
        "A database that is damaged or has other tables is replaced by an empty one",
        arguments: ["", "no database", String(repeating: "x", count: 100_000)]
    )
    func damagedDatabase(content: String) async throws {
        try FileManager.default.createDirectory(at: files.url, withIntermediateDirectories: false)
        let url = files.url.appending(path: "cache-2-7.sqlite")
        try Data(content.utf8).write(to: url)
        let store = files.store()
        let entry = try await write(100_000, to: store)
        #expect(try await CacheSample.hasBody(entry, in: files.store()) == true)
        #expect(try files.databases.map(\.lastPathComponent) == ["cache-2-8.sqlite"])
    }

    @Test("A database with another schema version is replaced by an empty one", arguments: [0, 9])
    func otherVersion(version: UInt8) async throws {
        try await write(100_000, to: files.store())
        var database = try files.takeDatabase()
        // The big-endian version in the header of a database.
        #expect(database.content[60..<64] == Data([0, 0, 0, 2]))
        database.content[63] = version
        try database.content.write(to: files.url.appending(path: database.name))
        let entry = try await write(10, to: files.store(), 1)
        #expect(try await files.store().entries(for: CacheSample.keys[0]).isEmpty)
        #expect(try await CacheSample.hasBody(entry, in: files.store()) == true)
        #expect(try files.databases.map(\.lastPathComponent) == ["cache-2-2.sqlite"])
    }

    @Test("A database that is damaged while stores have it open is replaced, and all of them use the new one")
    func laterDamage() async throws {
        let stores = [files.store(), files.store()]
        for index in 0..<200 { try await write(2_000, to: stores[index % 2], index % 20) }
        let url = try #require(try files.databases.first)
        // Written into the file that both have open, and into its log.
        for file in [url, URL(filePath: url.path + "-wal")] {
            let handle = try FileHandle(forUpdating: file)
            let count = try handle.seekToEnd()
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: Data(repeating: 0x5A, count: Int(count)))
        }
        var entries: [CacheEntry] = []
        for index in 0..<20 { entries.append(try await write(index * 5_000, to: stores[index % 2], index)) }
        for store in stores + [files.store()] {
            for entry in entries { #expect(try await CacheSample.hasBody(entry, in: store) == true) }
        }
    }

    @Test("The files that a process with a replaced database has left beside it are removed by the next store")
    func leftovers() async throws {
        let store = files.store()
        try await write(10, to: store)
        try await store.remove(account: nil)
        let old = ["cache-2-1.sqlite-wal", "cache-2-1.sqlite-shm"]
        for name in old { try Data("secret".utf8).write(to: files.url.appending(path: name)) }
        let entry = try await write(10, to: files.store())
        #expect(try Set(files.names).isDisjoint(with: old))
        #expect(try await CacheSample.hasBody(entry, in: store) == true)
        #expect(try files.databases.map(\.lastPathComponent) == ["cache-2-2.sqlite"])
    }

    @Test("A store whose folder is removed begins with an empty one")
    func removedFolder() async throws {
        let store = files.store()
        let old = try await write(100_000, to: store)
        try FileManager.default.removeItem(at: files.url)
        #expect(try await store.entries(for: old.key).isEmpty)
        let entry = try await write(100_000, to: store)
        #expect(try await CacheSample.hasBody(entry, in: store) == true)
        #expect(try await CacheSample.hasBody(entry, in: files.store()) == true)
    }
}
