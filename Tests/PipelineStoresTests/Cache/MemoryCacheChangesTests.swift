import Foundation
import PipelineCaching
import TestSupport
import Testing

@Suite("The removals that a MemoryCacheStore knows", .watched)
struct MemoryCacheChangesTests {
    private let store = MemoryCacheStore()
    private let entry = CacheEntry.named("r")

    private func generation() async -> Data? { await store.lookUp(entry.key).generation }

    /// Returns whether a response is refused whose request began at a generation.
    private func isRefused(since generation: Data?) async throws -> Bool {
        let writer = try #require(await store.write(entry, byteCount: 0))
        return try await writer.finish(totalByteCount: 0, ifUnchangedSince: generation) == nil
    }

    @Test("K05: a removal affects the keys of its resource, of its account, or all, and only earlier generations")
    func scopes() async throws {
        let start = await generation()
        for other in ["a", "other"] { await store.remove(resource: other) }
        for other in ["r", "other"] { await store.remove(account: other) }
        #expect(try await !isRefused(since: start))
        let removals: [(MemoryCacheStore) async -> Void] = [
            { await $0.remove(resource: "r") }, { await $0.remove(account: "a") }, { await $0.remove(account: nil) },
        ]
        for remove in removals {
            let before = await generation()
            await remove(store)
            #expect(try await isRefused(since: before))
            let after = await generation()
            #expect(try await !isRefused(since: after))
        }
    }

    @Test("K05: after removals of more than 1,000 resources, all keys count as affected by them")
    func bound() async throws {
        let start = await generation()
        for number in 0..<1_000 { await store.remove(resource: "\(number)") }
        #expect(try await !isRefused(since: start))
        await store.remove(resource: "one more")
        #expect(try await isRefused(since: start))
        let end = await generation()
        #expect(try await !isRefused(since: end))
    }

    @Test("K05: bytes that another store has made count as outdated")
    func foreign() async throws {
        #expect(try await isRefused(since: Data("other".utf8)))
    }
}
