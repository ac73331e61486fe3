import Foundation
import PipelineCaching
import TestSupport
import Testing

@testable import cachewriter

@Suite("DiskCacheStore, eviction", .watched)
struct DiskCacheStoreEvictionTests {
    private let files: CacheFiles

    init() throws { files = try CacheFiles() }

    private func fileByteCount() throws -> Int {
        try files.bodies.reduce(0) {
            try $0 + (FileManager.default.attributesOfItem(atPath: $1.path)[.size] as? Int ?? 0)
        }
    }

    @Test(
        "The entries that were not used for the longest time are removed first",
        arguments: [(20_000, 125_000), (100_000, 430_000)]
    )
    func leastRecentlyUsed(byteCount: Int, maximumByteCount: Int) async throws {
        // Three entries fit, besides the tables.
        let store = files.store(maximumByteCount: maximumByteCount, maximumBodyByteCount: byteCount)
        var written: [CacheEntry] = []
        for key in CacheSample.keys.prefix(3) {
            written.append(try #require(try await CacheSample.write(CacheSample.entry(key), byteCount, to: store)))
        }
        #expect(try await CacheSample.hasBody(written[0], in: store) == true)
        try await store.update(written[1])
        let steps = [[true, true, false, true, false], [false, true, false, true, true]]
        for (key, expected) in zip(CacheSample.keys[3...4], steps) {
            try await CacheSample.write(CacheSample.entry(key), byteCount, to: store)
            var kept: [Bool] = []
            for key in CacheSample.keys.prefix(5) { kept.append(try await !store.entries(for: key).isEmpty) }
            #expect(kept == expected)
        }
    }

    @Test("A store that evicts takes into account what another store of the folder has used")
    func usedByOther() async throws {
        let store = files.store()
        var written: [CacheEntry] = []
        for index in 0..<276 {
            let entry = CacheSample.entry(CacheKey(resource: "\(index)", account: ""))
            written.append(try #require(try await CacheSample.write(entry, index < 20 ? 10_000 : 1, to: store)))
        }
        // The first ten are the oldest, but are used; 256 uses are noted before they are written.
        for entry in written[..<10] + written[20...] { #expect(try await store.body(of: entry) != nil) }
        let other = files.store(maximumByteCount: 280_000, maximumBodyByteCount: 10_000)
        try await CacheSample.write(CacheSample.entry(CacheSample.keys[0]), 10_000, to: other)
        var kept = 0
        for entry in written[..<10] { kept += try await other.entries(for: entry.key).count }
        #expect(kept == 10)
        for entry in written[10..<20] { kept += try await other.entries(for: entry.key).count }
        #expect(11..<20 ~= kept)
    }

    @Test("Bodies of all sizes never have more bytes than the store, also while they are written")
    func bounded() async throws {
        let maximum = 500_000
        try FileManager.default.createDirectory(at: files.url, withIntermediateDirectories: false)
        let store = files.store(maximumByteCount: maximum, maximumBodyByteCount: 200_000)
        for index in 0..<40 {
            let entry = CacheSample.entry(CacheKey(resource: "\(index)", account: ""))
            let count = [60_000, 30_000, 60_000, 60_000, 199_999][index % 5]
            let writer = try #require(try await store.write(entry, byteCount: nil))
            for start in stride(from: 0, to: count, by: 40_000) {
                try await writer.append(Data(count: min(40_000, count - start)))
                #expect(try fileByteCount() <= maximum)
            }
            let finished = try await writer.finish(totalByteCount: nil)
            #expect(finished.byteCount == count)
            #expect(try fileByteCount() <= maximum)
        }
        var total = 0
        for index in 0..<40 {
            let entries = try await store.entries(for: CacheKey(resource: "\(index)", account: ""))
            total += entries.reduce(0) { $0 + $1.byteCount }
        }
        #expect(200_000...maximum ~= total)
    }

    @Test("Unfinished bodies share the room of the store: one that does not fit fails, and another one can finish")
    func unfinished() async throws {
        let store = files.store(maximumByteCount: 300_000, maximumBodyByteCount: 200_000)
        let entries = CacheSample.keys.prefix(2).map { CacheSample.entry($0) }
        let first = try #require(try await store.write(entries[0], byteCount: nil))
        let second = try #require(try await store.write(entries[1], byteCount: nil))
        try await first.append(Data(count: 180_000))
        let error = await #expect(throws: CacheStoreError.self) { try await second.append(Data(count: 180_000)) }
        #expect(error?.code == .full)
        #expect(try await first.finish(totalByteCount: nil).byteCount == 180_000)
        #expect(try files.bodies.count == 1)
    }

    @Test("Everything is removed at once, except for the secret and unfinished bodies")
    func removeAll() async throws {
        let (store, other) = (files.store(), files.store())
        let secret = try await store.secret()
        for (index, key) in CacheSample.keys.enumerated() {
            try await CacheSample.write(CacheSample.entry(key), 50_000, to: index % 2 == 0 ? store : other)
        }
        let unfinished = CacheSample.entry(CacheSample.keys[0])
        let writer = try #require(try await other.write(unfinished, byteCount: nil))
        try await writer.append(CacheSample.body(of: unfinished, 60_000))
        try await store.remove(account: nil)
        #expect(try files.bodies.count == 1)
        for key in CacheSample.keys { #expect(try await other.entries(for: key).isEmpty) }
        let finished = try await writer.finish(totalByteCount: nil)
        for store in [store, other, files.store()] {
            #expect(try await CacheSample.hasBody(finished, in: store) == true)
            #expect(try await store.secret() == secret)
        }
        #expect(try files.databases.count == 1)
    }

    @Test("The entries of an account or a resource are all removed, however many, and the database becomes smaller")
    func removeMany() async throws {
        let store = files.store()
        for index in 0..<1_100 {
            let key = CacheKey(resource: "r", account: "\(index % 2)", content: "\(index)")
            try await CacheSample.write(CacheSample.entry(key), index < 20 ? 40_000 : 9_000, to: store)
        }
        #expect(try files.bodies.count == 20)
        try await store.remove(account: "0")
        #expect(try files.bodies.count == 10)
        try await store.remove(resource: "r")
        #expect(try files.bodies.isEmpty)
        let size = try FileManager.default.attributesOfItem(atPath: files.databases[0].path)[.size] as? Int ?? 0
        // The entries had 10 MB; up to 4 MiB of unused pages are kept.
        #expect(size < 6 << 20)
        for index in 0..<1_100 {
            let key = CacheKey(resource: "r", account: "\(index % 2)", content: "\(index)")
            #expect(try await store.entries(for: key).isEmpty)
        }
    }
}
