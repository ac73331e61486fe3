import Foundation
import PipelineCaching
import TestSupport
import Testing

@Suite("MemoryCacheStore, eviction", .watched)
struct MemoryCacheStoreEvictionTests {
    /// A store with room for ten bodies of 10,000 bytes.
    private let store = MemoryCacheStore(maximumByteCount: 116_000, maximumBodyByteCount: 35_000)

    private func put(_ names: some Sequence<Int>) async throws {
        for name in names { try await store.put(.named("\(name)"), 10_000) }
    }

    private func use(_ names: some Sequence<Int>) async throws {
        for name in names {
            let entry = try #require(await store.lookUp(CacheEntry.named("\(name)").key).entries.first)
            _ = await store.body(of: entry)
        }
    }

    private func stored(_ names: some Sequence<Int>) async -> [Int] {
        await store.stored(among: names.map { "\($0)" }).compactMap { Int($0) }
    }

    @Test("Entries that were never used are removed in the order in which they were stored")
    func oldestFirst() async throws {
        try await put(0..<10)
        for name in 0..<10 { _ = await store.lookUp(CacheEntry.named("\(name)").key).entries }
        #expect(await stored(0..<10) == Array(0..<10))
        try await put(10..<13)
        #expect(await stored(0..<13) == Array(3..<13))
    }

    @Test("A used entry outlives entries that were stored later and never used")
    func usedEntry() async throws {
        try await put(0..<10)
        try await use([0, 4])
        try await put(10..<16)
        #expect(await stored(0..<16) == [0, 4] + Array(8..<16))
    }

    @Test("An update is a use")
    func updatedEntry() async throws {
        try await put(0..<10)
        let entry = try #require(await store.entries(for: CacheEntry.named("0").key).first)
        await store.update(entry)
        try await put(10..<15)
        #expect(await stored(0..<1) == [0])
    }

    @Test("1,000 entries that are never used displace none of the used entries within 80 % of the bound")
    func scan() async throws {
        try await put(0..<10)
        try await use(0..<8)
        try await put(100..<1_100)
        #expect(await stored(0..<8) == Array(0..<8))
    }

    @Test("If used entries exceed 80 % of the bound, the one that was not used for the longest time is removed first")
    func leastRecentlyUsed() async throws {
        try await put(0..<10)
        try await use(0..<10)
        try await use([0, 1])
        try await put(10..<20)
        #expect(await stored(0..<10) == [0, 1, 4, 5, 6, 7, 8, 9])
    }

    @Test("One large entry removes as many small ones as necessary")
    func largeEntry() async throws {
        try await put(0..<10)
        try await store.put(.named("20"), 35_000)
        #expect(await stored(0..<21) == Array(4..<10) + [20])
    }
}
