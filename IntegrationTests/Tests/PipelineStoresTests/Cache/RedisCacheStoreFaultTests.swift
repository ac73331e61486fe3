import Foundation
@_spi(Stores) import PipelineRedis
import TestSupport
import Testing

@testable import PipelineCaching

@Suite(
    "RedisCacheStore, faults",
    .enabled(if: LocalRedis.executable != nil, "redis-server is not installed"),
    .realTime,
    .watched
)
struct RedisCacheStoreFaultTests {
    private let clock = ContinuousClock()

    @discardableResult
    private func expectFailure(
        _ code: CacheStoreError.Code,
        of store: RedisCacheStore,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> Duration {
        let start = clock.now
        let error = await #expect(throws: CacheStoreError.self, sourceLocation: sourceLocation) {
            _ = try await store.entries(for: .sample)
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        return clock.now - start
    }

    // MARK: Server

    @Test("If Redis is killed, calls fail within the timeout; after a restart, they succeed")
    func killed() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store(timeout: .seconds(5))
            try await store.put()
            await redis.kill()
            for _ in 0..<20 { #expect(await expectFailure(.unavailable, of: store) < .seconds(5)) }
            try await redis.restart()
            #expect(await becomesTrue { try await store.entries(for: .sample).isEmpty })
            let entry = try await store.put()
            #expect(try await store.entries(for: .sample) == [entry])
        }
    }

    @Test("If Redis hangs, a call fails at the timeout and the next ones at once; when it continues, they succeed")
    func stopped() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store(timeout: .seconds(1))
            let entry = try await store.put()
            redis.send(SIGSTOP)
            #expect((.seconds(1)..<(.seconds(10))).contains(await expectFailure(.timedOut, of: store)))
            // One of several, because a busy machine may interrupt any of them for a second.
            var shortest = Duration.seconds(60)
            for _ in 0..<20 { shortest = min(shortest, await expectFailure(.timedOut, of: store)) }
            #expect(shortest < .milliseconds(100))
            redis.send(SIGCONT)
            #expect(await becomesTrue { try await store.entries(for: .sample) == [entry] })
            #expect(try await store.content(of: entry) == .sample(1_000))
        }
    }

    @Test("After a restart of Redis, a store with old connections makes new ones before it sends")
    func staleConnection() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            try await store.put()
            await redis.kill()
            try await redis.restart()
            #expect(try await store.entries(for: .sample).isEmpty)
        }
    }

    @Test("If the memory of Redis is full, writing fails with a code that says so, and reading still works")
    func full() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let entry = try await store.put()
            try await redis.command("CONFIG", "SET", "maxmemory", "1")
            let calls: [@Sendable () async throws -> Void] = [
                { try await store.put(.sample("b")) }, { try await store.put(.sample("b"), .sample(600_000)) },
                { _ = try await store.lookUp(CacheKey(resource: "other", account: "account")) },
            ]
            for call in calls {
                let error = await #expect(throws: CacheStoreError.self) { try await call() }
                #expect(error?.code == .full)
            }
            #expect(try await store.lookUp(.sample).entries == [entry])
            // A removal needs no memory, but the next lookup makes a generation.
            try await store.remove(resource: "resource")
            try await redis.command("CONFIG", "SET", "maxmemory", "0")
            #expect(try await store.lookUp(.sample).entries.isEmpty)
        }
    }

    // MARK: Eviction

    @Test(
        "If a piece of a body is missing or short, the body is gone",
        arguments: [1, 256 << 10, 600_000],
        ["DEL", "SET"]
    )
    func evictedPiece(byteCount: Int, command: String) async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            for index in 0...(byteCount - 1) / RedisScript.pieceByteCount {
                try await redis.command("FLUSHALL")
                let entry = try await store.put(.sample(), .sample(byteCount))
                #expect(try await store.content(of: entry) == .sample(byteCount))
                let key = try #require(try await redis.keys(containing: ":b:").first { $0.hasSuffix(":\(index)") })
                _ = command == "DEL" ? try await redis.command("DEL", key) : try await redis.command("SET", key, "")
                #expect(try await store.body(of: entry) == nil)
            }
        }
    }

    @Test("If a piece is missing or short when it is read, or has expired, reading fails", arguments: ["", "short"])
    func evictedWhileReading(content: String) async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let entry = try await store.put(.sample(), .sample(600_000))
            let body = try #require(try await store.body(of: entry))
            let key = try #require(try await redis.keys(containing: ":b:").first { $0.hasSuffix(":1") })
            try await redis.command("SET", key, content)
            #expect(try await body.read(at: 0, upTo: 10) == .sample(10))
            await #expect(throws: CacheStoreError.self) { _ = try await body.read(at: 300_000, upTo: 10) }
        }
    }

    @Test("If a piece is missing when an entry is to become visible, writing fails and leaves nothing")
    func evictedWhileWriting() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let writer = try #require(try await store.write(.sample(), byteCount: nil))
            try await writer.append(.sample(600_000))
            try await redis.command("DEL", try #require(try await redis.keys(containing: ":b:").first))
            let error = await #expect(throws: CacheStoreError.self) { _ = try await writer.finish(totalByteCount: nil) }
            #expect(error?.code == .full)
            #expect(try await store.entries(for: .sample).isEmpty)
            #expect(await becomesTrue { try await redis.keys(containing: ":b:").isEmpty })
        }
    }

    @Test(
        "If a generation is evicted, its entries are gone and do not reappear",
        arguments: ["g", "r:resource", "a:account"]
    )
    func evictedGeneration(key: String) async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let old = try await store.put(.sample("a"))
            try await redis.command("DEL", "test:2:" + key)
            #expect(try await store.entries(for: .sample).isEmpty)
            #expect(try await store.body(of: old) == nil)
            try await store.update(old)
            #expect(try await store.entries(for: .sample).isEmpty)
            let new = try await store.put(.sample("b"))
            #expect(try await store.entries(for: .sample) == [new])
            #expect(try await store.body(of: old) == nil)
        }
    }

    @Test("An entry that is damaged in Redis is ignored", arguments: ["", "x", String(repeating: "x", count: 200)])
    func damagedEntry(value: String) async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let entry = try await store.put()
            let key = "test:2:e:8:resource,7:account,0:"
            try await redis.command("HSET", key, UUID().uuidString, value)
            #expect(try await store.entries(for: .sample) == [entry])
        }
    }

    // MARK: Waiting

    @Test("A cancelled task stops waiting at once, and its connection stays usable")
    func cancellation() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let entry = try await store.put()
            redis.send(SIGSTOP)
            let start = clock.now
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do {
                            _ = try await store.entries(for: .sample)
                            return false
                        } catch {
                            return error is CancellationError
                        }
                    }
                }
                #expect(await becomesTrue { store.waitingCount == 8 - RedisClient.maximumConnectionCount })
                group.cancelAll()
                for await isCancelled in group { #expect(isCancelled) }
            }
            #expect(clock.now - start < .seconds(15))
            redis.send(SIGCONT)
            #expect(try await store.entries(for: .sample) == [entry])
        }
    }

    @Test("In a cancelled task, entries are removed and locks are released nevertheless")
    func cancelledRemoval() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let entries = [try await store.put(.sample("a")), try await store.put(.sample("b"))]
            let token = try #require(try await store.lock(.sample, for: .seconds(600), at: .now))
            await withTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    try? await store.remove(entries[0])
                    try? await store.unlock(.sample, token)
                }
            }
            #expect(await becomesTrue { try await store.entries(for: .sample) == [entries[1]] })
            #expect(await becomesTrue { try await redis.keys(containing: ":l:").isEmpty })
        }
    }

    @Test("At most 1,000 calls wait; more fail at once")
    func waitingCalls() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store(timeout: .seconds(60))
            _ = try await store.secret()
            redis.send(SIGSTOP)
            let excess = 50
            let results = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<RedisClient.maximumConnectionCount + RedisClient.maximumWaitingCount + excess {
                    group.addTask { (try? await store.entries(for: .sample)) != nil }
                }
                var results: [Bool] = []
                // The first calls to end are those that fail, because the others wait for Redis.
                while results.count < excess, let result = await group.next() { results.append(result) }
                redis.send(SIGCONT)
                for await result in group { results.append(result) }
                return results
            }
            #expect(results.prefix(excess).allSatisfy { !$0 })
            #expect(results.dropFirst(excess).allSatisfy { $0 })
        }
    }
}
