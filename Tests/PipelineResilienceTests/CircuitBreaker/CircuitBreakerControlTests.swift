import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("CircuitBreakerPlugin: control and reports", .watched)
struct CircuitBreakerControlTests {
    @Test("`isolate` refuses the requests of an origin until `reset`, also after the provider was made")
    func isolate() async throws {
        let breaker = CircuitBreakerPlugin()
        let bench = BreakerBench(ScriptedTransport(always: .status(200)), [breaker])
        #expect(breaker.isolate("https://A.test:443/"))
        let error = try #require(await bench.error())
        #expect(error.code == .circuitOpen)
        #expect(error.retryAfter == nil)
        #expect(error.reason == "the circuit of https://a.test is isolated until it is reset")
        #expect(await bench.send(Ask(url: "https://b.test")) == "200")
        bench.clock.advance(by: .seconds(1_000_000))
        #expect(await bench.send() == "circuitOpen")
        #expect(breaker.state == .isolated)
        #expect(breaker.reset("https://a.test"))
        #expect(await bench.send() == "200")
    }

    @Test("`isolate` without an origin also refuses requests to origins that were not used before")
    func isolateAll() async {
        let breaker = CircuitBreakerPlugin()
        let bench = BreakerBench(ScriptedTransport(always: .status(200)), [breaker])
        await bench.send()
        breaker.isolate()
        #expect(await bench.send() == "circuitOpen")
        #expect(breaker.state(of: "https://b.test") == .isolated)
        #expect(await bench.send(Ask(url: "https://b.test")) == "circuitOpen")
        breaker.reset("https://c.test")
        #expect(await bench.send(Ask(url: "https://c.test")) == "200")
        #expect(bench.provider.health.first?.status == .degraded)
        breaker.reset()
        for host in ["a", "b", "c", "d"] { #expect(await bench.send(Ask(url: "https://\(host).test")) == "200") }
    }

    @Test("A text that is not an origin changes nothing")
    func notAnOrigin() {
        let breaker = CircuitBreakerPlugin()
        #expect(!breaker.isolate("a test"))
        #expect(!breaker.reset("a test"))
        #expect(breaker.state(of: "a test") == .closed)
    }

    @Test("A request in progress goes on when its circuit is isolated, and its outcome does not count")
    func isolateInProgress() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let transport = ScriptedTransport(always: .delayed(.seconds(1), .status(503)))
        let bench = BreakerBench(transport, [breaker])
        let call = Task { await bench.send() }
        try await bench.clock.waitForSleepers()
        breaker.isolate()
        breaker.reset()
        bench.clock.advance(by: .seconds(1))
        #expect(await call.value == "503")
        #expect(breaker.state == .closed)
    }

    @Test("Every subscriber gets every change, in order, with its moment")
    func changes() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench([.status(503), .status(503), .status(200)], breaker)
        let streams = [breaker.stateChanges, breaker.stateChanges]
        let start = PipelineClock(bench.clock).now
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        await bench.send()
        breaker.isolate("https://a.test")
        for stream in streams {
            var seen: [CircuitBreakerPlugin.StateChange] = []
            for await change in stream {
                seen.append(change)
                if change.newState == .isolated { break }
            }
            #expect(seen.allSatisfy { $0.partition == "https://a.test" })
            #expect(seen.map(\.newState) == [.open, .halfOpen, .open, .halfOpen, .closed, .isolated])
            #expect(seen.map(\.oldState) == [.closed, .open, .halfOpen, .open, .halfOpen, .closed])
            let moments = seen.compactMap { $0.moment.map { start.duration(to: $0) / .seconds(1) } }
            #expect(moments == [0, 1, 1, 2, 2, 2])
        }
    }

    @Test("A call that ends both the wait for a probe and the next break reports three changes, in order")
    func changesAtOnce() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let transport = ScriptedTransport([.status(503), .hang, .status(200)])
        let bench = BreakerBench(transport, [breaker])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let probe = Task { await bench.send() }
        try await transport.waitForRequests(2)
        let stream = breaker.stateChanges
        bench.clock.advance(by: .seconds(31))
        #expect(await bench.send() == "200")
        var states: [CircuitState] = []
        for await change in stream {
            states.append(change.newState)
            if states.count == 3 { break }
        }
        #expect(states == [.open, .halfOpen, .closed])
        probe.cancel()
        _ = await probe.value
    }

    @Test("A subscriber that reads nothing keeps the latest 100 changes and delays no call")
    func boundedChanges() async {
        let breaker = CircuitBreakerPlugin()
        let stream = breaker.stateChanges
        for _ in 0..<200 {
            breaker.isolate("https://a.test")
            breaker.reset("https://a.test")
        }
        breaker.isolate("https://b.test")
        var count = 0
        for await change in stream {
            count += 1
            if change.partition == "https://b.test" { break }
        }
        #expect(count == 100)
    }

    @Test("A subscriber that stops is forgotten, and the others end when the plugin is released")
    func subscribersEnd() async {
        let changes = CircuitChanges()
        do {
            let stream = changes.subscribe()
            #expect(changes.subscriberCount == 1)
            withExtendedLifetime(stream) {}
        }
        #expect(changes.subscriberCount == 0)
        var breaker: CircuitBreakerPlugin? = CircuitBreakerPlugin()
        let stream = breaker?.stateChanges
        breaker?.isolate("https://a.test")
        breaker = nil
        var count = 0
        if let stream { for await _ in stream { count += 1 } }
        #expect(count == 1)
    }

    @Test("Concurrent changes are delivered to each subscriber in the order of each circuit")
    func concurrentChanges() async {
        let breaker = CircuitBreakerPlugin()
        let stream = breaker.stateChanges
        await withTaskGroup(of: Void.self) { group in
            for host in ["a", "b", "c", "d"] {
                group.addTask {
                    for _ in 0..<5 {
                        breaker.isolate("https://\(host).test")
                        breaker.reset("https://\(host).test")
                    }
                }
                group.addTask { breaker.isolate("https://\(host).test") }
            }
        }
        breaker.isolate("https://last.test")
        var states: [String: CircuitState] = [:]
        for await change in stream {
            let name = change.partition ?? ""
            #expect(states[name, default: .closed] == change.oldState)
            states[name] = change.newState
            if name == "https://last.test" { break }
        }
        #expect(states.count == 5)
    }

    @Test("V13: 1,100 hosts that each fail once do not make the breaker forget a circuit that is open")
    func manyHosts() async throws {
        let breaker = try #require(StandardPart.resilient.plugins[.breaker]?.plugins.first as? CircuitBreakerPlugin)
        let bench = BreakerBench(ScriptedTransport(always: .status(500)), [breaker])
        for _ in 0..<10 { #expect(await bench.send() == "500") }
        for number in 0..<1_100 { #expect(await bench.send(Ask(url: "https://h\(number).test")) == "500") }
        #expect(breaker.state == .open)
        #expect(await bench.send() == "circuitOpen")
    }

    @Test("Health says for a URL whether its server is refused now")
    func refusing() async throws {
        let bench = BreakerBench(
            ScriptedTransport { request, _ in .status(request.host == "a.test" ? 503 : 200) },
            [CircuitBreakerPlugin.touchy()]
        )
        let urls = [
            "https://a.test/x?y", "https://A.test:443", "https://b.test", "http://a.test", "https://a.test:8443",
        ]
        func refused() -> [Bool] { urls.map { bench.provider.health.isRefusing(Endpoint.url($0)) } }
        #expect(refused() == [false, false, false, false, false])
        await bench.send()
        #expect(refused() == [true, true, false, false, false])
        await bench.send(Ask(url: "https://b.test"))
        #expect(refused() == [true, true, false, false, false])
        bench.clock.advance(by: .seconds(1))
        // The next request is a probe.
        #expect(refused() == [false, false, false, false, false])
        #expect(!bench.provider.health.isRefusing(Endpoint.url("no url")))
        let unused = CircuitBreakerPlugin()
        unused.isolate()
        let isolated = Provider<Ask>(transport: ScriptedTransport([]), plugins: [unused])
        #expect(isolated.health.isRefusing(Endpoint.url("https://a.test")))
    }

    @Test("Health is degraded while a circuit is not closed, and unhealthy while all refuse requests")
    func health() async {
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench(
            ScriptedTransport { request, _ in .status(request.host == "a.test" ? 503 : 200) },
            [breaker]
        )
        func health() -> PluginHealth? { bench.provider.health.first }
        #expect(health()?.status == .healthy)
        #expect(health()?.plugin == "CircuitBreakerPlugin")
        await bench.send()
        bench.clock.advance(by: .milliseconds(400))
        #expect(health()?.status == .unhealthy)
        #expect(health()?.details == ["https://a.test": "open, next probe in 600 ms"])
        bench.clock.advance(by: .milliseconds(600))
        #expect(health()?.status == .degraded)
        #expect(health()?.details == ["https://a.test": "open, next request is a probe"])
        await bench.send(Ask(url: "https://b.test"))
        #expect(health()?.status == .degraded)
        breaker.isolate()
        #expect(health()?.status == .unhealthy)
        #expect(health()?.details == ["https://a.test": "isolated", "https://b.test": "isolated"])
        breaker.reset()
        #expect(health()?.status == .healthy)
        #expect(health()?.details == [:])
        let unused = CircuitBreakerPlugin()
        unused.isolate()
        #expect(BreakerBench([], unused).provider.health.first?.status == .unhealthy)
    }

    @Test("Calls are annotated when their circuit opens, closes, probes or refuses, and otherwise not at all")
    func annotations() async {
        let log = AnnotationLog()
        let bench = BreakerBench([.status(200), .status(503), .status(200)], log, CircuitBreakerPlugin.touchy())
        await bench.send()
        #expect(log.events == [])
        await bench.send()
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        await bench.send()
        #expect(log.events == ["opened", "refused", "probe", "closed"])
    }
}
