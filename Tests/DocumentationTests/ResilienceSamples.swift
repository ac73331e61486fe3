import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Resilience.
enum ResilienceSamples {
    typealias Shop = TargetsSamples.Shop
    typealias Item = TargetsSamples.Item

    static func standard(_ transport: any Transport) -> Provider<Shop> {
        Provider<Shop>(transport: transport, plugins: [.standard(.resilient)])
    }

    static func changed() -> PluginStack {
        // sample: changed
        let plugins = PluginStack.standard(
            .resilient,
            .timeouts(TimeoutPlugin(attempt: .seconds(2), total: .seconds(30))),
            .breaker(CircuitBreakerPlugin(failureRatio: 0.2, minimumCallCount: 50)),
            .concurrencyLimit(ConcurrencyLimitPlugin(.fixed(50), queue: 500))
        )
        // end
        return plugins
    }

    static func substitute() -> [any PluginType] {
        // sample: fallback
        let fallback = FallbackPlugin { outcome in
            PipelineResponse(request: outcome.request, statusCode: 200, data: Data(#"{"title": "Item"}"#.utf8))
        }
        // end
        return [fallback, RetryPlugin()]
    }

    static func chaotic() -> PluginStack {
        [.standard(.resilient), ChaosPlugin(.status(503, rate: 0.1), hosts: .only(["staging.shop.example"]))]
    }
}

@Suite("The samples of the guide Resilience", .watched)
struct ResilienceSamplesTests {
    private typealias Shop = ResilienceSamples.Shop

    private let clock = ManualClock()

    private func provider(_ transport: any Transport, _ plugins: [any PluginType]) -> Provider<Shop> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    @Test(
        "Stacks with the part `resilient` have no finding",
        arguments: [
            PluginStack.standard(.resilient), ResilienceSamples.changed(), ResilienceSamples.chaotic(),
        ]
    )
    func stacks(_ plugins: PluginStack) {
        let description = provider(ScriptedTransport([]), [plugins]).explain()
        #expect(description.findings.isEmpty, "\(description)")
    }

    @Test("The resilient stack has the plugins of the guide in its order")
    func order() {
        let names = ResilienceSamples.standard(ScriptedTransport([])).plugins.map(\.name)
        let expected = [
            "TimeoutPlugin", "RetryPlugin", "CircuitBreakerPlugin", "RateLimitPlugin", "ConcurrencyLimitPlugin",
        ]
        #expect(names.filter { expected.contains($0) } == expected)
    }

    @Test("A breaker lets few requests reach a server that is down, and is closed after its return")
    func breaker() async throws {
        // sample: test
        let clock = ManualClock()
        let outage = Duration.seconds(10) ..< .seconds(40)
        let server = SimulatedServer(on: clock, outages: [outage: .failure(.connect(.refused))])
        let breaker = CircuitBreakerPlugin(minimumCallCount: 20)
        let provider = Provider<Shop>(transport: server, plugins: [breaker], configuration: .init(clock: clock))
        await clock.run {
            for second in 0..<60 {
                try? await clock.sleep(until: clock.origin.advanced(by: .seconds(second)))
                for _ in 1...10 { _ = try? await provider.request(.item(id: 7)) }
            }
        }
        #expect(server.arrivals.count { outage.contains($0) } == 17)  // of 300; 12 open the circuit, 5 are probes
        #expect(breaker.state(of: "https://api.shop.example") == .closed)
        // end
    }

    @Test("An isolated circuit refuses requests until it is reset, and its changes are reported in order")
    func isolation() async throws {
        var breaker: CircuitBreakerPlugin? = CircuitBreakerPlugin()
        let changes = try #require(breaker).stateChanges
        if let breaker {
            let provider = provider(ScriptedTransport(always: .status(200)), [breaker])
            breaker.isolate("https://api.shop.example")
            let error = await #expect(throws: PipelineError.self) { try await provider.request(.item(id: 7)) }
            #expect(error?.code == .circuitOpen && error?.retryAfter == nil)
            #expect(provider.health.map(\.status) == [.unhealthy])
            breaker.reset("https://api.shop.example")
            #expect(try await provider.request(.item(id: 7)).statusCode == 200)
        }
        breaker = nil
        var states: [CircuitState] = []
        for await change in changes { states.append(change.newState) }
        #expect(states == [.isolated, .closed])
    }

    @Test("The error of an open circuit has the time until the next probe, and health names the server")
    func openCircuit() async throws {
        let transport = ScriptedTransport(always: .status(503))
        let provider = provider(transport, [CircuitBreakerPlugin(minimumCallCount: 1)])
        _ = try? await provider.request(.item(id: 7))
        let error = await #expect(throws: PipelineError.self) { try await provider.request(.item(id: 7)) }
        #expect(error?.code == .circuitOpen && error?.retryAfter == .seconds(5))
        #expect(transport.sent.count == 1)
        let health = String(decoding: try JSONEncoder().encode(provider.health), as: UTF8.self)
        #expect(health.contains("open, next probe in 5"), "\(health)")
    }

    @Test("With a limit of one, a call with a high priority goes before an earlier one with a low priority")
    func priorities() async {
        let server = SimulatedServer(on: clock, serviceTime: .constant(.seconds(1)))
        let provider = provider(server, [ConcurrencyLimitPlugin(.fixed(1))])
        let clock = clock
        let calls: [(name: String, priority: TrafficPriority)] = [("first", .normal), ("low", .low), ("high", .high)]
        let names = await clock.run {
            await withTaskGroup(of: String.self) { group in
                for call in calls {
                    group.addTask {
                        let options = RequestOptions { $0.priority = call.priority }
                        _ = try? await provider.request(.item(id: 7), options: options)
                        return call.name
                    }
                    try? await clock.sleep(for: .milliseconds(1))
                }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
        }
        #expect(names == ["first", "high", "low"])
    }

    @Test("A second copy of a slow request is sent after the delay of its call, and its response is used")
    func hedging() async throws {
        let clock = clock
        let retry = RetryPlugin()
        let options = RequestOptions { $0.hedging = .fixed(.milliseconds(80)) }
        let slowAtFirst = ScriptedTransport(
            always: .answer { request, context in
                try await clock.sleep(for: context.attempt == 1 ? .seconds(3) : .milliseconds(20))
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let provider = provider(slowAtFirst, [retry, HedgingPlugin(budget: retry.budget)])
        #expect(provider.explain().findings.isEmpty)
        let response = try await clock.run { try await provider.request(.item(id: 7), options: options) }
        #expect(response.exchanges.map(\.attempt) == [2, 1])
        #expect(clock.now.offset == .milliseconds(100))
    }

    @Test("A fallback is used after the retries, and is marked")
    func fallback() async throws {
        let clock = clock
        for (status, expected) in [(503, "Item"), (200, "Lamp")] {
            let transport = ScriptedTransport(always: .status(status, body: #"{"title": "Lamp"}"#))
            let provider = provider(transport, ResilienceSamples.substitute())
            let response = try await clock.run { try await provider.request(.item(id: 7)) }
            #expect(try response.map(ResilienceSamples.Item.self).title == expected)
            #expect(response.isFallback == (status == 503))
            #expect(transport.sent.count == (status == 503 ? 3 : 1))
        }
    }

    @Test("The resilient stack opens the circuit of a server that hangs")
    func hang() async {
        let server = SimulatedServer(on: clock, outages: [.zero ..< .seconds(600): .hang])
        let provider = Provider<Shop>(
            transport: server,
            plugins: [.standard(.resilient)],
            configuration: .init(clock: clock, random: .seeded(1))
        )
        let clock = clock
        await clock.run {
            await withDiscardingTaskGroup { group in
                for id in 0..<3_000 {
                    group.addTask {
                        let options = RequestOptions { $0.avoidLogError = true }
                        _ = try? await provider.request(.item(id: id), options: options)
                    }
                    try? await clock.sleep(for: .milliseconds(100))
                }
            }
        }
        #expect(server.arrivals.count < 300, "\(server.arrivals.count)")
    }
}
