import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Provider.signOut and CachePlugin", .tags(.concurrent), .watched)
struct CacheSignOutTests {
    private struct Broken: Error {}

    @Test("A background request that is in progress at signOut leaves nothing")
    func background() async throws {
        let fields = CacheBench.control("max-age=1, stale-while-revalidate=600")
        let transport = ScriptedTransport { _, index in
            let step = ScriptedTransport.Step.status(200, headers: fields, body: "\(index)")
            return index == 0 ? step : .delayed(.seconds(10), step)
        }
        let bench = CacheBench(transport, CachePlugin(account: { _ in "a" }))
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.get() == "0 stale")
        try await transport.waitForRequests(2)
        try await bench.provider.signOut()
        bench.clock.advance(by: .seconds(10))
        #expect(await bench.provider.drain(within: .seconds(1)))
        #expect(try await bench.response(Ask(), .offline).statusCode == 504)
    }

    @Test("No policy finds a response after signOut")
    func policies() async throws {
        let store = MemoryCacheStore()
        let bench = CacheBench(CacheBench.control("max-age=600, stale-if-error=600"), CachePlugin(store: store))
        let asks = [Ask(), Ask(headers: ["Authorization": "t"]), Ask(method: .head), Ask(path: "/c")]
        for ask in asks { _ = try await bench.response(ask) }
        try await bench.provider.signOut()
        #expect("\(store)".hasPrefix("0 responses"))
        for policy in [CachePolicy.onlyIfCached, .offline] {
            for ask in asks { #expect(try await bench.response(ask, policy).statusCode == 504) }
        }
    }

    @Test("If the store fails, signOut throws, and the cookies are removed nevertheless")
    func failure() async throws {
        let store = WatchedStore { if $0 == .removeAccount { throw Broken() } }
        let cookies = CookiePlugin()
        let fields = CacheBench.control("max-age=60", [.setCookie: "n=1"])
        let bench = CacheBench(fields, CachePlugin(store: store), outside: [cookies])
        _ = try await bench.get()
        await #expect(throws: Broken.self) { try await bench.provider.signOut() }
        #expect(try await cookies.store.jar(account: "").cookies.isEmpty)
    }

    @Test("Responses to calls that are in progress when an account is removed are not stored")
    func removeAccount() async throws {
        let fields = CacheBench.control("max-age=600")
        let transport = ScriptedTransport { _, index in
            let step = ScriptedTransport.Step.status(200, headers: fields, body: "\(index)")
            return index == 0 ? .delayed(.seconds(10), step) : step
        }
        let cache = CachePlugin(account: { _ in "a" })
        let bench = CacheBench(transport, cache)
        async let slow = bench.get()
        try await bench.clock.waitForSleepers()
        try await cache.remove(account: "a")
        bench.clock.advance(by: .seconds(10))
        #expect(try await slow == "0 miss")
        #expect(try await bench.get() == "1 miss")
    }
}
