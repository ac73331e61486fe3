import Foundation
import HTTPTypes
@_spi(Stores) import PipelineRedis
import PipelineStoreTesting
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCaching

// Without redis-server (`apt-get install redis-server`), these suites are skipped. CI installs it.
@Suite(
    "RedisCacheStore",
    .enabled(if: LocalRedis.executable != nil, "redis-server is not installed"),
    .realTime,
    .watched
)
struct RedisCacheStoreTests {
    @Test("RedisCacheStore conforms to the rules for every cache store")
    func conformance() async throws {
        try await LocalRedis.run { redis in
            let server = try RedisServer(port: redis.port)
            let suite = CacheStoreConformance(lockClock: .store) {
                RedisCacheStore(server, prefix: UUID().uuidString, timeout: .seconds(30))
            }
            let violations = await suite.run()
            #expect(violations.isEmpty, "\(violations)")
        }
    }

    @Test("Two stores with the same prefix share the secret and the entries; a third one with another prefix does not")
    func sharing() async throws {
        try await LocalRedis.run { redis in
            let (first, second) = (try redis.store(), try redis.store())
            let third = try redis.store(prefix: "other")
            #expect(try await first.secret() == second.secret())
            #expect(try await first.secret() != third.secret())
            let entry = try await first.put()
            #expect(try await second.entries(for: .sample) == [entry])
            #expect(try await second.content(of: entry) == .sample(1_000))
            #expect(try await third.entries(for: .sample).isEmpty)
            try await second.remove(entry)
            #expect(try await first.entries(for: .sample).isEmpty)
        }
    }

    @Test("K05: a response is not stored if another process has removed its resource or account meanwhile")
    func removedMeanwhile() async throws {
        try await LocalRedis.run { redis in
            let (store, other) = (try redis.store(), try redis.store())
            let removals: [(CacheKey) async throws -> Void] = [
                { try await other.remove(resource: $0.resource) }, { try await other.remove(account: $0.account) },
                { _ in try await other.remove(account: nil) },
            ]
            for isStored in [false, true] {
                for removal in removals {
                    try await redis.command("FLUSHALL")
                    if isStored { try await store.put(.sample(), Data()) }
                    #expect(try await store.put(.sample(300_000), during: removal) == nil)
                    #expect(try await store.entries(for: .sample).isEmpty)
                    #expect(await becomesTrue { try await redis.keys(containing: ":b:").isEmpty })
                }
            }
            let stored = try await store.put(.sample(300_000)) { _ in
                try await other.remove(resource: "other")
                try await other.remove(account: "other")
                try await other.put(.sample("other"), Data())
            }
            #expect(try await other.entries(for: .sample).count == 2)
            #expect(try await other.content(of: try #require(stored)) == .sample(300_000))
        }
    }

    @Test(
        "K05: a response is not stored if Redis has lost a generation meanwhile, also if there is a new one",
        arguments: [["DEL", "test:2:g"], ["DEL", "test:2:r:resource"], ["DEL", "test:2:a:account"], ["FLUSHALL"]],
        [false, true]
    )
    func lostMeanwhile(command: [String], isMadeAnew: Bool) async throws {
        try await LocalRedis.run { redis in
            let (store, other) = (try redis.store(), try redis.store())
            let stored = try await store.put(.sample(300_000)) { _ in
                try await redis.command(command)
                if isMadeAnew { try await other.put(.sample("other"), Data()) }
            }
            #expect(stored == nil)
            #expect(try await store.entries(for: .sample).count == (isMadeAnew ? 1 : 0))
            #expect(try await store.put(.sample(300_000)) { _ in } != nil)
        }
    }

    @Test("K05: a lookup makes the generations that are missing, for an hour; a hit takes one round trip")
    func generations() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let first = try await store.lookUp(.sample).generation
            let keys = try await redis.keys()
            #expect(keys == ["test:2:a:account", "test:2:g", "test:2:r:resource"])
            for key in keys { #expect((3_500...3_600).contains(try await redis.timeToLive(key))) }
            #expect(try await store.lookUp(.sample).generation == first)
            try await store.put()
            try await redis.command("CONFIG", "RESETSTAT")
            let (entries, generation) = try await store.lookUp(.sample)
            #expect(entries.count == 1 && generation == first)
            let statistics = try #require(try await redis.command("INFO", "commandstats").string)
            #expect(!String(decoding: statistics, as: UTF8.self).contains("cmdstat_eval"))
        }
    }

    @Test("Of 20 tasks of two stores that race for a lock, one gets it, and Redis expires it")
    func lockRace() async throws {
        try await LocalRedis.run { redis in
            let stores = [try redis.store(), try redis.store()]
            let tokens = try await withThrowingTaskGroup(of: UUID?.self) { group in
                for index in 0..<20 {
                    group.addTask { try await stores[index % 2].lock(.sample, for: .seconds(50), at: .distantPast) }
                }
                return try await group.reduce(into: [UUID]()) { $0 += [$1].compactMap(\.self) }
            }
            #expect(tokens.count == 1)
            #expect((1...50).contains(try await redis.timeToLive("test:2:l:8:resource,7:account,0:")))
            try await stores[1].unlock(.sample, try #require(tokens.first))
            #expect(try await redis.keys(containing: ":l:").isEmpty)
            _ = try await stores[0].lock(.sample, for: .milliseconds(1), at: .distantFuture)
            #expect(await becomesTrue { try await redis.keys(containing: ":l:").isEmpty })
        }
    }

    @Test("Every key begins with the prefix and expires, also that of a piece that is being written")
    func timeToLive() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store(timeToLive: .seconds(90.5))
            _ = try await store.secret()
            _ = try await store.lock(.sample, for: .seconds(60), at: .now)
            let entry = try await store.put(.sample("a"), .sample(600_000))
            try await store.update(entry)
            let writer = try #require(try await store.write(.sample("b"), byteCount: nil))
            try await writer.append(.sample(600_000))
            let keys = try await redis.keys()
            // The secret, the lock, the variants, 3 generations, and 3 and 2 pieces.
            #expect(keys.count == 11)
            for key in keys {
                #expect(key.hasPrefix("test:2:"))
                #expect((1...RedisBodyWriter.stagingTime).contains(try await redis.timeToLive(key)), "\(key)")
            }
            let lifetime = try await redis.timeToLive("test:2:e:8:resource,7:account,0:")
            #expect((80...91).contains(lifetime))
            for key in ["s", "g", "r:resource", "a:account"] {
                #expect(try await redis.timeToLive("test:2:" + key) > lifetime)
            }
            await writer.discard()
            #expect(await becomesTrue { try await redis.keys(containing: ":b:").count == 3 })
        }
    }

    @Test("An update renews the time to live of an entry, its body, and all that it depends on")
    func renewal() async throws {
        try await LocalRedis.run { redis in
            let entry = try await redis.store(timeToLive: .seconds(90)).put(.sample(), .sample(600_000))
            _ = try await redis.store(timeToLive: .seconds(90)).secret()
            try await redis.store(timeToLive: .seconds(900)).update(entry)
            for key in try await redis.keys() { #expect(try await redis.timeToLive(key) > 800, "\(key)") }
        }
    }

    @Test("The body of a replaced or removed entry expires after a minute, also if its resource was removed before")
    func reclamation() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            let changes: [(CacheEntry) async throws -> Void] = [
                { try await store.remove($0) }, { _ in try await store.put(.sample(), Data()) },
                { entry in
                    try await store.remove(resource: entry.key.resource)
                    try await store.put(.sample("other"), Data())
                },
            ]
            for change in changes {
                try await redis.command("FLUSHALL")
                let entry = try await store.put(.sample(), .sample(300_000))
                let body = try #require(try await store.body(of: entry))
                try await change(entry)
                let keys = try await redis.keys(containing: ":b:")
                #expect(keys.count == 2)
                for key in keys { #expect((1...60).contains(try await redis.timeToLive(key))) }
                #expect(try await body.read(at: 299_000, upTo: 5_000) == Data.sample(300_000)[299_000...])
            }
        }
    }

    @Test("A body that is too large is refused at the beginning, or with an error that discards its pieces")
    func tooLarge() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store(maximumBodyByteCount: 600_000)
            #expect(try await store.write(.sample(), byteCount: 600_001) == nil)
            let writer = try #require(try await store.write(.sample(), byteCount: nil))
            try await writer.append(.sample(600_000))
            for code in [CacheStoreError.Code.tooLarge, .ended] {
                let error = await #expect(throws: CacheStoreError.self) { try await writer.append(Data([1])) }
                #expect(error?.code == code)
            }
            await #expect(throws: CacheStoreError.self) { _ = try await writer.finish(totalByteCount: nil) }
            #expect(await becomesTrue { try await redis.keys().isEmpty })
            let entry = try await store.put(.sample(), .sample(600_000))
            #expect(try await store.content(of: entry) == .sample(600_000))
        }
    }

    @Test("An entry with more than 256 KiB of header fields is not stored")
    func largeHeaders() async throws {
        try await LocalRedis.run { redis in
            let store = try redis.store()
            var entry = try await store.put()
            let stored = entry
            entry.headers[.eTag] = String(repeating: "x", count: RedisEntry.maximumByteCount)
            #expect(try await store.write(entry, byteCount: nil) == nil)
            let error = await #expect(throws: CacheStoreError.self) { try await store.update(entry) }
            #expect(error?.code == .tooLarge)
            #expect(try await store.entries(for: .sample) == [stored])
        }
    }
}
