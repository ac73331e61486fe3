import Foundation
import TestSupport
import Testing

@testable import PipelineCaching
@testable import cachewriter

@Suite("DiskCacheStore, several stores of a folder", .realTime, .watched)
struct DiskCacheStoreSharingTests {
    private let files: CacheFiles

    init() throws { files = try CacheFiles() }

    @Test("Stores that open a folder at the same time share its secret, entries and locks")
    func shared() async throws {
        let stores = (0..<8).map { _ in files.store() }
        let secrets = try await withThrowingTaskGroup(of: Data.self) { group in
            for store in stores { group.addTask { try await whenFree { try await store.secret() } } }
            return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
        }
        #expect(secrets.count == 1)
        let key = CacheSample.keys[0]
        for (index, store) in stores.enumerated() {
            let entry = CacheSample.entry(key, variant: "\(index)")
            try await CacheSample.write(entry, index * 10_000, to: store)
        }
        for store in stores {
            let entries = try await store.entries(for: key)
            #expect(entries.count == 8)
            for entry in entries { #expect(try await CacheSample.hasBody(entry, in: store) == true) }
        }
        let now = Date.now
        let tokens = try await withThrowingTaskGroup(of: UUID?.self) { group in
            for store in stores {
                group.addTask { try await whenFree { try await store.lock(key, for: .seconds(60), at: now) } }
            }
            return try await group.reduce(into: [UUID]()) { $0 += [$1].compactMap(\.self) }
        }
        #expect(tokens.count == 1)
    }

    @Test("K05: a response is not stored if another store of the folder has removed its resource or account meanwhile")
    func removedMeanwhile() async throws {
        let (store, other) = (files.store(), files.store())
        let removals: [(CacheKey) async throws -> Void] = [
            { try await other.remove(resource: $0.resource) }, { try await other.remove(account: $0.account) },
            { _ in try await other.remove(account: nil) },
        ]
        for isStored in [false, true] {
            for removal in removals {
                for byteCount in [100, 50_000] {
                    if isStored { try await store.put() }
                    #expect(try await store.put(.sample(byteCount), during: removal) == nil)
                    #expect(try await store.entries(for: .sample).isEmpty)
                    #expect(try files.bodies.isEmpty)
                }
            }
        }
        let stored = try await store.put(.sample(50_000)) { _ in
            try await other.remove(resource: "other")
            try await other.remove(account: "other")
        }
        #expect(try await other.entries(for: .sample).map(\.id) == [stored?.id])
    }

    @Test("K05: a database keeps 1,000 removals, and stores no response whose request began before them")
    func manyRemovals() async throws {
        let (store, other) = (files.store(), files.store())
        for (count, isStored) in [(1_000, true), (1_001, false)] {
            let stored = try await store.put(.sample(100)) { _ in
                for number in 0..<count { try await other.remove(resource: "\(number)") }
            }
            #expect((stored != nil) == isStored)
        }
        let count = try files.connection().rows("SELECT count(*) FROM changes") { $0.integer(0) }
        #expect(count == [1_000])
    }

    @Test("K05: a response is not stored if the folder was removed and made again meanwhile, after a removal")
    func removedFolder() async throws {
        let (store, other) = (files.store(), files.store())
        let stored = try await store.put(.sample(100)) { key in
            try await other.remove(resource: key.resource)
            try FileManager.default.removeItem(at: files.url)
            #expect(try await other.entries(for: key).isEmpty)
        }
        #expect(stored == nil)
        #expect(try await store.put(.sample(100)) { _ in } != nil)
    }

    @Test("A store that opens the folder removes the files of bodies that a crash has left, but not unfinished ones")
    func orphans() async throws {
        let first = files.store()
        let kept = try #require(try await CacheSample.write(CacheSample.entry(CacheSample.keys[0]), 50_000, to: first))
        let unfinished = CacheSample.entry(CacheSample.keys[1])
        let writer = try #require(try await first.write(unfinished, byteCount: nil))
        try await writer.append(CacheSample.body(of: unfinished, 50_000))
        let orphans = [UUID(), kept.id, unfinished.id].map { files.url.appending(path: "\($0.uuidString)-0.body") }
        for orphan in orphans { try Data("x".utf8).write(to: orphan) }
        #expect(try files.bodies.count == 5)
        let second = files.store()
        #expect(try await CacheSample.hasBody(kept, in: second) == true)
        #expect(try files.bodies.count == 2)
        let finished = try await writer.finish(totalByteCount: nil)
        #expect(try await CacheSample.hasBody(finished, in: second) == true)
    }

    @Test("Writing fails after a while if another process keeps the lock, and reading does not need it")
    func locked() async throws {
        let store = files.store()
        let entry = try #require(try await CacheSample.write(CacheSample.entry(CacheSample.keys[0]), 50_000, to: store))
        let other = try files.connection()
        try other.run("BEGIN IMMEDIATE")
        let error = await #expect(throws: CacheStoreError.self) { try await store.remove(entry) }
        #expect(error?.code == .timedOut)
        #expect(try await CacheSample.hasBody(entry, in: store) == true)
        try other.run("ROLLBACK")
        try await store.remove(entry)
        #expect(try await store.entries(for: entry.key).isEmpty)
    }

    /// How many rounds of kills there are; scripts/deep/run sets a larger number.
    private static let killCount = ProcessInfo.processInfo.environment["CACHE_KILLS"].flatMap { Int($0) } ?? 10

    // The rounds are in groups of at most 25, each of which ends long before the watchdog would end the run.
    @Test(
        "After a process that writes and reads was killed at any moment, a store opens and no body is wrong",
        arguments: Array(stride(from: 0, to: killCount, by: 25))
    )
    func killed(first: Int) async throws {
        let count = min(25, Self.killCount - first)
        // A store that is open all the time, and one that opens the folder after each kill.
        let lasting = files.store(maximumByteCount: 2 << 20, maximumBodyByteCount: 1 << 20)
        var generator = SeededGenerator(state: UInt64(first + 1))
        var checked = 0
        for round in 0..<count {
            let children = try [CacheChild("write", files.url), CacheChild("write", files.url)]
            for child in children {
                let ended = try await child.kill(afterByteCount: Int.random(in: 0..<200, using: &generator))
                #expect(ended == nil)
            }
            let opened = files.store(maximumByteCount: 2 << 20, maximumBodyByteCount: 1 << 20)
            let store = round % 2 == 0 ? opened : lasting
            for key in CacheSample.keys {
                for entry in try await store.entries(for: key) {
                    #expect(try await CacheSample.hasBody(entry, in: store) == true)
                    checked += 1
                }
            }
        }
        #expect(checked > count)
        try await files.store().remove(account: nil)
        #expect(try files.bodies.isEmpty)
        #expect(try files.databases.count == 1)
    }
}

/// Does the work again, up to 30 times, if the folder is locked for longer than a store waits.
///
/// One of eight stores waits for the seven others, and on a busy machine each of them waits for a processor.
private func whenFree<Value>(_ work: () async throws -> Value) async throws -> Value {
    for _ in 0..<30 {
        do { return try await work() } catch let error as CacheStoreError where error.code == .timedOut { continue }
    }
    return try await work()
}

/// Random numbers that are the same in each run.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state ^ state >> 33) &* 0xFF51_AFD7_ED55_8CCD
    }
}
