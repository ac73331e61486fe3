import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite(
    "RedisRateLimitStore, access",
    .enabled(if: LocalRedis.executable != nil, "redis-server is not installed"),
    .realTime,
    .watched
)
struct RedisRateLimitStoreAccessTests {
    /// A way in which a server does not let a store reserve.
    struct Refusal: CustomTestStringConvertible {
        let name: String
        var arguments: [String] = []
        var password: String?
        let code: RedisError.Code
        let word: String

        var testDescription: String { name }

        static let all = [
            Refusal(name: "no password", arguments: ["--requirepass", "canary"], code: .notAllowed, word: "NOAUTH"),
            Refusal(
                name: "a wrong password",
                arguments: ["--requirepass", "canary"],
                password: "canary2",
                code: .notAllowed,
                word: "the username or the password is wrong"
            ),
            Refusal(
                name: "full memory",
                arguments: ["--maxmemory", "1", "--maxmemory-policy", "noeviction"],
                code: .full,
                word: "OOM"
            ),
            Refusal(
                name: "a read-only replica",
                arguments: ["--replicaof", "127.0.0.1", "1"],
                code: .notWritable,
                word: "READONLY"
            ),
        ]
    }

    @Test("V07: a reservation that Redis refuses fails with a code that says why", arguments: Refusal.all)
    func codes(refusal: Refusal) async throws {
        try await LocalRedis.run(refusal.arguments) { redis in
            let error = await #expect(throws: RedisError.self) {
                _ = try await Self.store(redis, refusal).reserve(
                    1,
                    of: "a",
                    interval: .seconds(1),
                    burst: 1,
                    within: nil
                )
            }
            #expect(error?.code == refusal.code)
            let text = "\(String(describing: error))"
            #expect(text.contains(refusal.word) && !text.contains("canary") && !text.contains("127"))
        }
    }

    @Test(
        "V07: while Redis refuses, the plugin is degraded and says why, and calls have the annotation",
        arguments: Refusal.all
    )
    func health(refusal: Refusal) async throws {
        try await LocalRedis.run(refusal.arguments) { redis in
            let annotations = Mutex<[[String]]>([])
            let failures = Mutex<[RedisError.Code?]>([])
            let store = try Self.store(redis, refusal)
            let limit = RateLimit(100, per: .seconds(1), burst: 10)
            let plugin = RateLimitPlugin(limit, store: store) { error in
                failures.withLock { $0.append((error as? RedisError)?.code) }
            }
            // A slow machine does not reach the timeout of the plugin, because the manual clock does not advance.
            let provider = Provider<URLTarget>(
                transport: ScriptedTransport(always: .status(200)),
                plugins: [
                    PluginStack.didFinish { outcome, _ in
                        annotations.withLock { $0.append(outcome.annotations.map(\.event)) }
                    }, plugin,
                ],
                configuration: .init(clock: ManualClock())
            )
            for _ in 1...2 { _ = try await provider.request(URLTarget("https://a.test")) }
            #expect(annotations.withLock { $0 } == [["store unavailable"], ["store unavailable"]])
            #expect(failures.withLock { $0 }.first == refusal.code)
            let health = try #require(provider.health.first)
            #expect(health.status == .degraded)
            let detail = health.details["store"] ?? ""
            #expect(detail.contains(refusal.word) && !detail.contains("canary") && !detail.contains("127"))
        }
    }

    private static func store(_ redis: LocalRedis, _ refusal: Refusal) throws -> RedisRateLimitStore {
        guard let password = refusal.password else {
            return RedisRateLimitStore(try RedisServer(port: redis.port), timeout: .seconds(30))
        }
        let server = try RedisServer(port: redis.port, password: { password })
        return RedisRateLimitStore(server, timeout: .seconds(30))
    }
}
