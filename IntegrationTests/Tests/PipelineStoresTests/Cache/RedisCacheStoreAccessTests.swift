import Foundation
import PipelineCaching
import Synchronization
import TestSupport
import Testing

@Suite(
    "RedisCacheStore, access",
    .enabled(if: LocalRedis.executable != nil, "redis-server is not installed"),
    .realTime,
    .watched
)
struct RedisCacheStoreAccessTests {
    private struct NoPassword: Error {}

    private func expectDenial(
        of store: RedisCacheStore,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: CacheStoreError.self, sourceLocation: sourceLocation) {
            _ = try await store.entries(for: .sample)
        }
        #expect(error?.code == .notAllowed, sourceLocation: sourceLocation)
        for text in ["\(String(describing: error))", "\(store)", String(reflecting: store)] {
            #expect(!text.contains("canary") && !text.contains("127"), sourceLocation: sourceLocation)
        }
    }

    @Test("Access needs the right password; a wrong one, none, or a closure that fails is denied")
    func password() async throws {
        try await LocalRedis.run(["--requirepass", "canary"]) { redis in
            let entry = try await redis.store(password: { "canary" }).put()
            #expect(try await redis.store(password: { "canary" }).entries(for: .sample) == [entry])
            await expectDenial(of: try redis.store(password: { "canary2" }))
            await expectDenial(of: try redis.store())
            await expectDenial(of: try redis.store(password: { throw NoPassword() }))
        }
    }

    @Test("A username selects the user of the password")
    func username() async throws {
        try await LocalRedis.run(["--user", "canary-user", "on", ">canary", "~*", "+@all"]) { redis in
            try await redis.store(password: { "canary" }, username: "canary-user").put()
            await expectDenial(of: try redis.store(password: { "canary" }, username: "canary-other"))
        }
    }

    @Test("A user without a permission gets an error that says so")
    func permission() async throws {
        try await LocalRedis.run(["--user", "reader", "on", ">canary", "~*", "+@read"]) { redis in
            let store = try redis.store(password: { "canary" }, username: "reader")
            let calls: [@Sendable () async throws -> Void] = [
                { _ = try await store.lookUp(.sample) }, { try await store.put() },
            ]
            for call in calls {
                let error = await #expect(throws: CacheStoreError.self) { try await call() }
                #expect(error?.code == .notAllowed)
            }
        }
    }

    @Test("The password is requested for each new connection, and not for each call")
    func passwordPerConnection() async throws {
        try await LocalRedis.run(["--requirepass", "canary"]) { redis in
            let count = Mutex(0)
            let store = try redis.store(password: {
                count.withLock { $0 += 1 }
                return "canary"
            })
            for _ in 0..<5 { _ = try await store.secret() }
            #expect(count.withLock { $0 } == 1)
            await redis.kill()
            try await redis.restart()
            for _ in 0..<5 { _ = try await store.secret() }
            #expect(count.withLock { $0 } == 2)
        }
    }

    @Test("While the closure of the password runs, a call ends at its timeout, and later calls fail at once")
    func slowPassword() async throws {
        let (gate, end) = AsyncStream<Never>.makeStream()
        defer { end.finish() }
        let store = RedisCacheStore(
            try RedisServer(
                port: 1,
                password: {
                    for await _ in gate {}
                    return ""
                }
            ),
            timeout: .milliseconds(500)
        )
        var durations: [Duration] = []
        for _ in 0..<20 {
            let start = ContinuousClock.now
            let error = await #expect(throws: CacheStoreError.self) { _ = try await store.secret() }
            #expect(error?.code == .timedOut)
            durations.append(ContinuousClock.now - start)
        }
        #expect(durations[0] >= .milliseconds(500))
        // A call that waits takes at least its timeout, on any machine.
        #expect(durations.contains { $0 < .milliseconds(500) })
    }

    @Test(
        "A host that is not a loopback address is refused unless clear text is allowed",
        arguments: [
            "redis.test", "10.0.0.1", "127.0.0.1.test", "127.0.0", "127.0.0.256", "0.0.0.0", "::2", "", "127.0.+1.1",
        ]
    )
    func otherHost(host: String) throws {
        let error = #expect(throws: RedisError.self) { try RedisServer(host: host) }
        #expect(error?.code == .notAllowed)
        _ = try RedisServer(host: host, cleartext: .allowed)
    }

    @Test("A loopback address is accepted", arguments: ["localhost", "a.LOCALHOST", "127.0.0.1", "127.1.2.255", "::1"])
    func loopback(host: String) throws {
        _ = try RedisServer(host: host)
    }
}
