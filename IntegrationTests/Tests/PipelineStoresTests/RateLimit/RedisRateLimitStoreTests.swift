import Foundation
@_spi(Stores) import PipelineRedis
import PipelineResilience
import PipelineStoreTesting
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCaching

@Suite(
    "RedisRateLimitStore",
    .enabled(if: LocalRedis.executable != nil, "redis-server is not installed"),
    .realTime,
    .watched
)
struct RedisRateLimitStoreTests {
    private static func reserve(
        _ store: RedisRateLimitStore,
        _ cost: Int = 1,
        burst: Int = 1,
        within maximum: Duration? = nil
    ) async throws -> Duration {
        try await store.reserve(cost, of: "a", interval: .seconds(100), burst: burst, within: maximum)
    }

    private static func store(_ redis: LocalRedis, _ timeout: Duration = .seconds(30)) throws -> RedisRateLimitStore {
        RedisRateLimitStore(try RedisServer(port: redis.port), timeout: timeout)
    }

    @Test("It does what every rate limit store has to do")
    func conformance() async throws {
        try await LocalRedis.run { redis in
            let violations = await RateLimitStoreConformance {
                try await redis.command("FLUSHALL")
                return try Self.store(redis)
            }.run()
            #expect(violations == [])
        }
    }

    @Test("Stores with the same prefix share a limit, by the clock of Redis; the key expires")
    func shared() async throws {
        try await LocalRedis.run { redis in
            #expect(try await Self.reserve(try Self.store(redis)) == .zero)
            #expect(try await Self.reserve(try Self.store(redis)) > .seconds(90))
            let other = RedisRateLimitStore(try RedisServer(port: redis.port), prefix: "other")
            #expect(try await Self.reserve(other) == .zero)
            #expect(try await redis.keys() == ["limit:2:a", "other:2:a"])
            #expect((190...202).contains(try await redis.timeToLive("limit:2:a")))
        }
    }

    @Test("V07: a clock of Redis that is set back does not move the next moment away")
    func clockSetBack() async throws {
        try await LocalRedis.run { redis in
            let store = try Self.store(redis)
            _ = try await Self.reserve(store)
            let before = try await Self.reserve(store)
            // As if the last reservation had been an hour from now, on a clock that was an hour ahead.
            let value = String(
                decoding: try #require(try await redis.command("GET", "limit:2:a").string),
                as: UTF8.self
            )
            let hour = 3_600_000_000.0
            let moved = value.split(separator: ":").compactMap { Double($0) }.map { String(format: "%.2f", $0 + hour) }
            try await redis.command("SET", "limit:2:a", moved.joined(separator: ":"))
            let after = try await Self.reserve(store)
            #expect(abs(after / .seconds(1) - before / .seconds(1)) < 120, "\(before), \(after)")
        }
    }

    @Test("A reservation is one round trip, also after Redis has forgotten the script")
    func script() async throws {
        try await LocalRedis.run { redis in
            let store = try Self.store(redis)
            _ = try await Self.reserve(store)
            let before = try await Self.calls(redis)
            for _ in 0..<10 { _ = try await Self.reserve(store) }
            let after = try await Self.calls(redis)
            #expect(after["evalsha", default: 0] - before["evalsha", default: 0] == 10)
            #expect(after["eval"] == nil)
            try await redis.command("SCRIPT", "FLUSH")
            #expect(try await Self.reserve(store) > .seconds(1_000))
            #expect(try await Self.calls(redis)["eval"] == 1)
            _ = try await Self.reserve(store)
            #expect(try await Self.calls(redis)["eval"] == 1)
        }
    }

    /// The number of calls of each command.
    private static func calls(_ redis: LocalRedis) async throws -> [String: Int] {
        let text = try await redis.command("INFO", "commandstats").string.map { String(decoding: $0, as: UTF8.self) }
        var calls: [String: Int] = [:]
        for line in (text ?? "").split(whereSeparator: \.isNewline) {
            guard let match = line.firstMatch(of: /cmdstat_([a-z|]+):calls=([0-9]+)/) else { continue }
            calls[String(match.1)] = Int(match.2)
        }
        return calls
    }

    @Test("If Redis is killed or hangs, a reservation fails within the timeout, and later ones at once")
    func faults() async throws {
        try await LocalRedis.run { redis in
            let store = try Self.store(redis, .seconds(1))
            _ = try await Self.reserve(store)
            redis.send(SIGSTOP)
            let clock = ContinuousClock()
            let first = await clock.measure {
                await #expect(throws: RedisError.self) { _ = try await Self.reserve(store) }
            }
            #expect((.seconds(1)..<(.seconds(10))).contains(first))
            var shortest = Duration.seconds(60)
            for _ in 0..<20 {
                let next = await clock.measure { _ = try? await Self.reserve(store) }
                shortest = min(shortest, next)
            }
            #expect(shortest < .milliseconds(100))
            redis.send(SIGCONT)
            #expect(await becomesTrue { try await Self.reserve(store) > .zero })
            await redis.kill()
            await #expect(throws: RedisError.self) { _ = try await Self.reserve(store) }
            try await redis.restart()
            #expect(await becomesTrue { try await Self.reserve(store) == .zero })
        }
    }

    @Test("Only loopback addresses are allowed by default")
    func cleartext() throws {
        let error = #expect(throws: RedisError.self) { try RedisServer(host: "redis.test") }
        #expect(error?.code == .notAllowed)
        let store = RedisRateLimitStore(try RedisServer(host: "redis.test", cleartext: .allowed))
        #expect("\(store)" == "rate limits in Redis")
    }
}
