import Foundation
import PipelineCaching
import PipelineStoreTesting
import PipelineTesting
import TestSupport
import Testing

@testable import cachewriter

@Suite("DiskCacheStore", .watched)
struct DiskCacheStoreTests {
    private let files: CacheFiles

    init() throws { files = try CacheFiles() }

    @Test("DiskCacheStore does what every cache store has to do")
    func conformance() async {
        let violations = await CacheStoreConformance {
            DiskCacheStore(files.url.appending(path: UUID().uuidString))
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test("Creating a store touches no file, and neither does a writer before it is finished")
    func untouched() async throws {
        let store = files.store()
        let writer = try await store.write(CacheSample.entry(CacheSample.keys[0]), byteCount: nil)
        try await writer?.append(Data("x".utf8))
        #expect(!FileManager.default.fileExists(atPath: files.url.path))
    }

    @Test("Entries, the secret and locks outlive the store")
    func reopened() async throws {
        let key = CacheSample.keys[0]
        let secret = try await files.store().secret()
        var written: [CacheEntry] = []
        for (index, count) in CacheSample.byteCounts.enumerated() {
            let entry = CacheSample.entry(key, variant: "\(index)")
            written.append(try #require(try await CacheSample.write(entry, count, to: files.store())))
        }
        let now = Date.now
        let token = try #require(try await files.store().lock(key, for: .seconds(60), at: now))
        let store = files.store()
        #expect(try await store.secret() == secret)
        #expect(try await Set(store.entries(for: key)) == Set(written))
        for entry in written { #expect(try await CacheSample.hasBody(entry, in: store) == true) }
        #expect(try await store.lock(key, for: .seconds(60), at: now) == nil)
        try await store.unlock(key, token)
        #expect(try await store.lock(key, for: .seconds(60), at: now) != nil)
    }

    @Test(
        "Bodies of up to 32 KiB are in the database, longer ones in files",
        arguments: [(0, 0), (32 << 10, 0), (32 << 10 | 1, 1), (1 << 20, 1)]
    )
    func places(byteCount: Int, fileCount: Int) async throws {
        let store = files.store()
        let entry = try #require(
            try await CacheSample.write(CacheSample.entry(CacheSample.keys[0]), byteCount, to: store)
        )
        #expect(try files.bodies.count == fileCount)
        let reader = try #require(try await store.body(of: entry))
        #expect((reader.bytes == nil) == (fileCount == 1))
        #expect(try await CacheSample.hasBody(entry, in: store) == true)
        try await store.remove(entry)
        #expect(try files.bodies.isEmpty)
    }

    @Test("A discarded or released writer leaves no file", arguments: [true, false])
    func discarded(isReleased: Bool) async throws {
        let store = files.store(maximumByteCount: 1 << 20, maximumBodyByteCount: 1 << 20)
        // All together have more bytes than the store, so each has to release what it has reserved.
        for _ in 0..<4 {
            var writer = try await store.write(CacheSample.entry(CacheSample.keys[0]), byteCount: nil)
            try await writer?.append(Data(count: 600_000))
            #expect(try files.bodies.count == 1)
            if !isReleased { await writer?.discard() }
            writer = nil
            try await eventually { try files.bodies.isEmpty }
        }
    }

    @Test("A body that is larger than allowed is refused, when it begins if its length is known")
    func tooLarge() async throws {
        let store = files.store(maximumByteCount: 800_000)
        let entry = CacheSample.entry(CacheSample.keys[0])
        #expect(try await store.write(entry, byteCount: 100_001) == nil)
        let writer = try #require(try await store.write(entry, byteCount: nil))
        try await writer.append(Data(count: 100_000))
        let error = await #expect(throws: CacheStoreError.self) { try await writer.append(Data(count: 1)) }
        #expect(error?.code == .tooLarge)
        #expect(try files.bodies.isEmpty)
        let later = await #expect(throws: CacheStoreError.self) { try await writer.finish(totalByteCount: nil) }
        #expect(later?.code == .ended)
        #expect(try await store.entries(for: entry.key).isEmpty)
    }

    @Test("Descriptions name the folder, but not those that contain it")
    func descriptions() {
        #expect("\(files.store())" == #"cache in the folder "http""#)
        #expect(String(reflecting: files.store()) == #"cache in the folder "http""#)
    }

    @Test("A reader reads on after its entry was removed, and reports a file that was truncated")
    func truncatedWhileOpen() async throws {
        let store = files.store()
        let entry = try #require(try await CacheSample.write(CacheSample.entry(CacheSample.keys[0]), 90_000, to: store))
        let body = try #require(try await store.body(of: entry))
        let handle = try FileHandle(forWritingTo: try #require(try files.bodies.first))
        try await store.remove(entry)
        #expect(try await body.read(at: 80_000, upTo: 1) == CacheSample.body(of: entry, 90_000)[80_000...80_000])
        try handle.truncate(atOffset: 50_000)
        #expect(try await body.read(at: 40_000, upTo: 50_000).count == 10_000)
        let error = await #expect(throws: CacheStoreError.self) { try await body.read(at: 50_000, upTo: 1) }
        #expect(error?.code == .corrupt)
    }
}
