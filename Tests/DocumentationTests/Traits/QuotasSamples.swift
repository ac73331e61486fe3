import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// The samples of the guide Resilience for quotas.
enum QuotasSamples {
    typealias Shop = TargetsSamples.Shop

    static func provider(_ transport: any Transport, _ configuration: ProviderConfiguration) -> Provider<Shop> {
        // sample: limit
        let limit = RateLimit(100, per: .seconds(1))
        let plugins: [any PluginType] = [TimeoutPlugin(total: .seconds(30)), RetryPlugin(), RateLimitPlugin(limit)]
        // end
        return Provider<Shop>(transport: transport, plugins: plugins, configuration: configuration)
    }

    static func stack() -> PluginStack { .standard(.rateLimit(RateLimitPlugin(RateLimit(100, per: .seconds(1))))) }

    static func burst() -> RateLimitPlugin {
        // sample: burst
        let hourly = RateLimitPlugin(RateLimit(5_000, per: .seconds(3_600), burst: 50))
        // end
        return hourly
    }

    static func options() -> (search: RequestOptions, prefetch: RequestOptions) {
        // sample: options
        let search = RequestOptions { $0.cost = 5 }
        let prefetch = RequestOptions { $0.priority = .low }
        // end
        return (search, prefetch)
    }

    static func keyed() -> RateLimitPlugin {
        // sample: partition
        let byKey = TrafficPartition { request, _ in request.header("X-API-Key") ?? "" }
        let plugin = RateLimitPlugin(RateLimit(10, per: .seconds(1)), partition: byKey)
        // end
        return plugin
    }

    #if Redis
    static func fleet() throws -> RateLimitPlugin {
        // sample: fleet
        let store = RedisRateLimitStore(try RedisServer(host: "10.0.0.5", cleartext: .allowed), prefix: "orders")
        let limit = RateLimit(100, per: .seconds(1))
        let plugin = RateLimitPlugin(limit, store: store, onStoreFailure: .local(share: 0.125))
        // end
        return plugin
    }
    #endif
}

@Suite("The samples of the guide Resilience for quotas", .watched)
struct QuotasSamplesTests {
    private typealias Shop = QuotasSamples.Shop

    private let clock = ManualClock()

    private func provider(_ transport: any Transport, _ plugins: [any PluginType]) -> Provider<Shop> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    /// Makes calls one after the other, and returns the moments at which they were sent.
    private func moments(_ count: Int, _ plugin: RateLimitPlugin, _ options: RequestOptions) async -> [Duration] {
        let server = SimulatedServer(on: clock, serviceTime: .constant(.zero))
        let provider = provider(server, [plugin])
        await clock.run {
            for _ in 0..<count { _ = try? await provider.request(.item(id: 7), options: options) }
        }
        return server.arrivals
    }

    @Test("A server that counts every second never counts more than the quota")
    func quota() async throws {
        // sample: test
        let clock = ManualClock()
        let server = SimulatedServer(on: clock, travelTime: .uniform(.zero ... .milliseconds(50)), quota: 100)
        let plugin = RateLimitPlugin(RateLimit(100, per: .seconds(1)))
        let provider = Provider<Shop>(transport: server, plugins: [plugin], configuration: .init(clock: clock))
        await clock.run {
            await withDiscardingTaskGroup { group in
                for id in 1...1_000 { group.addTask { _ = try? await provider.request(.item(id: id)) } }
            }
        }
        #expect(server.arrivals.count == 1_000 && server.exceededCount == 0)
        #expect(clock.now.offset < .seconds(10.6))
        // end
    }

    @Test("Requests that are only spaced by 10 ms exceed the quota, because some are delayed on the way")
    func spacingAlone() async {
        let server = SimulatedServer(on: clock, travelTime: .uniform(.zero ... .milliseconds(50)), quota: 100)
        let provider = provider(server, [])
        let clock = clock
        await clock.run {
            await withDiscardingTaskGroup { group in
                for id in 1...1_000 {
                    group.addTask { _ = try? await provider.request(.item(id: id)) }
                    try? await clock.sleep(for: .milliseconds(10))
                }
            }
        }
        #expect(server.exceededCount > 0)
    }

    @Test("After a 429, the other calls wait until the server permits them, and the retry succeeds")
    func gate() async {
        let clock = clock
        let pause = ScriptedTransport.Step.status(429, headers: [.retryAfter: "5"])
        let server = SimulatedServer(on: clock, outages: [.zero ..< .milliseconds(1): pause])
        let provider = QuotasSamples.provider(server, .init(clock: clock, random: .seeded(1)))
        let statuses = await clock.run {
            await withTaskGroup(of: Int?.self) { group in
                for id in 1...20 {
                    group.addTask { try? await provider.request(.item(id: id)).statusCode }
                    try? await clock.sleep(for: .milliseconds(100))
                }
                return await group.reduce(into: [Int?]()) { $0.append($1) }
            }
        }
        #expect(statuses == Array(repeating: 200, count: 20))
        #expect(server.arrivals.count { $0 < .seconds(5) } == 1)
        #expect(server.arrivals.count { (.seconds(5) ... .seconds(6)).contains($0) } == 20)
    }

    @Test("A burst is sent at once, and the next request waits")
    func burst() async {
        let moments = await moments(51, QuotasSamples.burst(), RequestOptions())
        #expect(moments[49] == .zero && moments[50] > .zero)
    }

    @Test("A request with a cost of 5 takes five permits")
    func cost() async {
        let plugin = RateLimitPlugin(RateLimit(100, per: .seconds(1)))
        let moments = await moments(2, plugin, QuotasSamples.options().search)
        #expect(moments == [.zero, .milliseconds(50)])
    }

    @Test("The stack with a rate limit has no finding, and a plugin for each key neither")
    func findings() {
        let plugins: [any PluginType] = [QuotasSamples.stack()]
        #expect(provider(ScriptedTransport([]), plugins).explain().findings.isEmpty)
        #expect(provider(ScriptedTransport([]), [QuotasSamples.keyed()]).explain().findings.isEmpty)
    }

    @Test("Two keys do not wait for each other")
    func keys() async throws {
        let server = SimulatedServer(on: clock, serviceTime: .constant(.zero))
        let keys = Mutex(["a", "a", "b"])
        let name = try #require(HTTPField.Name("X-API-Key"))
        let key = PluginStack.prepare(name: "key") { request, _ in
            request.headers[name] = keys.withLock { $0.removeFirst() }
        }
        let provider = provider(server, [key, QuotasSamples.keyed()])
        await clock.run {
            await withDiscardingTaskGroup { group in
                for id in 1...3 { group.addTask { _ = try? await provider.request(.item(id: id)) } }
            }
        }
        #expect(server.arrivals == [.zero, .zero, .milliseconds(100)])
    }
}
