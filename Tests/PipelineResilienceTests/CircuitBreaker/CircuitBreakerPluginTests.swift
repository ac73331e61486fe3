import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CircuitBreakerPlugin", .tags(.concurrent), .watched)
struct CircuitBreakerPluginTests {
    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { CircuitBreakerPlugin() }.run()
        #expect(violations == [])
    }

    // MARK: Effects: what counts

    @Test(
        "By default the statuses 408 and 500 and above, except 501, are failures",
        arguments: [
            (200, false), (204, false), (206, false), (304, false), (400, false), (401, false), (403, false),
            (404, false), (407, false), (408, true), (409, false), (425, false), (429, false), (499, false),
            (500, true), (501, false), (502, true), (503, true), (504, true), (505, true), (599, true),
        ]
    )
    func statuses(status: Int, isFailure: Bool) async {
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench([.status(status)], breaker)
        #expect(await bench.send() == "\(status)")
        #expect(breaker.state == (isFailure ? .open : .closed))
    }

    @Test(
        "By default timeouts of an exchange, failures to connect, lost connections and truncated bodies are failures",
        arguments: [
            (PipelineError.Code.connect(.refused), true), (.connect(.unreachable), true), (.dns, true),
            (.tls(.handshake), true), (.timeout(.connect), true), (.timeout(.attempt), true), (.timeout(.head), true),
            (.timeout(.idle), true), (.timeout(.write), true), (.connectionLost, true), (.truncated, true),
            (.offline, false), (.timeout(.pool), false), (.timeout(.total), false), (.malformedResponse, false),
            (.transport, false), (.limit(.headerBytes), false), (.invalidRequest(.body), false), (.clientClosed, false),
        ]
    )
    func failures(code: PipelineError.Code, isFailure: Bool) async {
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench([.failure(code)], breaker)
        #expect(await bench.send() == code.rawValue)
        #expect(breaker.state == (isFailure ? .open : .closed))
    }

    @Test("A cancelled exchange and one that was not counted are neither a success nor a failure")
    func cancelled() async {
        let breaker = CircuitBreakerPlugin(failureRatio: 1, minimumCallCount: 2, window: .count(2))
        let bench = BreakerBench(
            [.status(500), .failure(CancellationError()), .failure(.transport), .failure(.connectionLost)],
            breaker
        )
        #expect(await bench.send() == "500")
        #expect(await bench.send() == "CancellationError")
        #expect(await bench.send() == "transport")
        #expect(breaker.state == .closed)
        #expect(await bench.send() == "connectionLost")
        #expect(breaker.state == .open)
    }

    @Test("An exchange is a failure if the call is cancelled because its time is up", arguments: [false, true])
    func deadline(hasHead: Bool) async {
        let breaker = CircuitBreakerPlugin.touchy()
        let body = PipelineBody.stream(AsyncThrowingStream<Data, any Error> { _ in })
        let bench = BreakerBench(
            ScriptedTransport(always: hasHead ? .status(200, body: body) : .hang),
            [TimeoutPlugin(total: .seconds(2)), breaker]
        )
        #expect(await bench.clock.run { await bench.send() } == "timeout.total")
        #expect(breaker.state == .open)
    }

    @Test("A call whose time is up before an exchange was made says nothing about the server")
    func deadlineInside() async {
        let breaker = CircuitBreakerPlugin.touchy()
        let wait = PluginStack.exchange { request, context, send in
            try await context.clock.sleep(for: .seconds(10))
            return try await send(request)
        }
        let bench = BreakerBench(
            ScriptedTransport(always: .status(200)),
            [TimeoutPlugin(total: .seconds(2)), breaker, wait]
        )
        #expect(await bench.clock.run { await bench.send() } == "timeout.total")
        #expect(breaker.state == .closed)
    }

    @Test("Responses and errors of a plugin inside that made no exchange do not count")
    func withoutExchange() async {
        let breaker = CircuitBreakerPlugin.touchy()
        let turn = Atomic(0)
        let inner = PluginStack.exchange { request, _, send in
            switch turn.add(1, ordering: .relaxed).newValue {
            case 1: throw PipelineError(.connect(.refused), "the token server is down")
            case 2: return PipelineResponse(request: request, statusCode: 503)
            case 3:
                _ = try await send(request)
                throw PipelineError(.connectionLost, "after an exchange")
            default: return try await send(request)
            }
        }
        let bench = BreakerBench(ScriptedTransport(always: .status(200)), [breaker, inner])
        #expect(await bench.send() == "connect.refused")
        #expect(breaker.state == .closed)
        #expect(await bench.send() == "503")
        #expect(breaker.state == .closed)
        #expect(await bench.send() == "connectionLost")
        #expect(breaker.state == .open)
    }

    @Test(
        "What ChaosPlugin does inside counts like what a server does",
        arguments: [
            ChaosEffect.fault(.connect(.refused), rate: 1), .status(503, rate: 1),
            .latency(.seconds(9) ... .seconds(9), rate: 1), .brokenBody(.fails(.connectionLost), rate: 1),
        ]
    )
    func chaos(effect: ChaosEffect) async {
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench(
            ScriptedTransport(always: .status(200, body: "a")),
            [TimeoutPlugin(attempt: .seconds(1)), breaker, ChaosPlugin(effect, hosts: .allowsAnyHost)]
        )
        await bench.clock.run { _ = await bench.send() }
        #expect(breaker.state == .open)
    }

    @Test("`decide` overrides the rules for a response and for an error, and applies nothing if it returns nil")
    func decide() async {
        let breaker = CircuitBreakerPlugin.touchy { outcome in
            switch outcome {
            case .success(let response):
                switch response.statusCode {
                case 404: .failure
                case 500: .success
                case 503: .ignored
                default: nil
                }
            case .failure(let error): error.code == .transport ? .failure : nil
            }
        }
        let bench = BreakerBench(
            [.status(500), .status(503), .status(404), .failure(.transport), .status(502)],
            breaker
        )
        for (outcome, state) in [("500", CircuitState.closed), ("503", .closed), ("404", .open)] {
            #expect(await bench.send() == outcome)
            #expect(breaker.state == state)
        }
        for outcome in ["transport", "502"] {
            breaker.reset()
            #expect(await bench.send() == outcome)
            #expect(breaker.state == .open)
        }
    }

    // MARK: Effects: the circuit

    @Test("An open circuit refuses requests, names the origin, and says when the next probe is due")
    func refused() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench([.status(503), .status(200)], breaker)
        await bench.send()
        bench.clock.advance(by: .milliseconds(250))
        let error = try #require(await bench.error())
        #expect(error.code == .circuitOpen)
        #expect(error.retryAfter == .milliseconds(750))
        let reason = "the circuit of https://a.test is open after status 503, and the next probe is due in 750 ms"
        #expect(error.reason == reason)
        #expect(error.plugin == "CircuitBreakerPlugin")
        #expect(bench.transport.sent.count == 1)
        #expect(await bench.send(Ask(url: "https://b.test")) == "200")
        #expect(breaker.state(of: "https://b.test") == .closed)
    }

    @Test("With the defaults, 10 failures among 100 calls within 30 seconds open the circuit for 5 seconds")
    func defaults() async {
        let breaker = CircuitBreakerPlugin()
        let bench = BreakerBench(
            ScriptedTransport { _, index in .status(index < 99 && index % 11 == 0 ? 500 : 200) },
            [breaker]
        )
        for _ in 0..<99 { await bench.send() }
        #expect(breaker.state == .closed)
        let late = BreakerBench(ScriptedTransport { _, index in .status(index < 10 ? 500 : 200) }, [breaker])
        breaker.reset()
        for _ in 0..<99 { await late.send() }
        #expect(breaker.state == .closed)
        await late.send()
        #expect(breaker.state == .open)
        late.clock.advance(by: .milliseconds(4_999))
        #expect(await late.send() == "circuitOpen")
        late.clock.advance(by: .milliseconds(1))
        #expect(await late.send() == "200")
        #expect(breaker.state == .closed)
    }

    @Test("RetryPlugin does not retry a refused request, and each of its attempts counts")
    func retry() async {
        let breaker = CircuitBreakerPlugin(failureRatio: 1, minimumCallCount: 2, window: .count(2))
        let bench = BreakerBench(
            ScriptedTransport(always: .status(503)),
            [RetryPlugin(maximumAttempts: 5, backoff: .immediate), breaker]
        )
        // The third attempt is refused, and the call ends with that.
        #expect(await bench.send() == "circuitOpen")
        #expect(bench.transport.sent.count == 2)
        let error = await bench.error()
        #expect(error?.code == .circuitOpen)
        #expect(error?.exchanges.isEmpty == true)
        #expect(bench.transport.sent.count == 2)
    }

    @Test("A custom partition has circuits of its own, and its key is never shown")
    func partitions() async throws {
        let secret = "sk-2718281828"
        let breaker = CircuitBreakerPlugin.touchy(
            partition: TrafficPartition { request, _ in request.headers[.authorization] ?? "" }
        )
        let bench = BreakerBench([.status(503), .status(200)], breaker)
        let changes = breaker.stateChanges
        let mine = Ask(headers: ["Authorization": secret])
        await bench.send(mine)
        let error = try #require(await bench.error(mine))
        let reason = "the circuit of its partition is open after status 503, and the next probe is due in 1000 ms"
        #expect(error.reason == reason)
        var iterator = changes.makeAsyncIterator()
        let change = try #require(await iterator.next())
        #expect(change.partition == nil)
        var texts = "\(bench.provider.health) \(change) "
        dump(error, to: &texts)
        #expect(!texts.contains(secret))
        #expect(bench.provider.health.first?.details == ["custom partitions": "1 not closed"])
        #expect(breaker.state(of: secret) == .open)
        #expect(await bench.send(Ask(headers: ["Authorization": "other"])) == "200")
        let shared = CircuitBreakerPlugin.touchy(partition: .shared)
        let both = BreakerBench([.status(503)], shared)
        await both.send()
        #expect(await both.send(Ask(url: "https://b.test")) == "circuitOpen")
        #expect(shared.state(of: "anything") == .open)
    }

    @Test("Copies of the plugin share circuits, also across providers")
    func copies() async {
        let breaker = CircuitBreakerPlugin.touchy()
        await BreakerBench([.status(503)], breaker).send()
        let copy = breaker
        #expect(await BreakerBench([.status(200)], copy).send() == "circuitOpen")
    }

    @Test("Each setting that makes no sense stops the program, and the message names its value")
    func preconditions() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CircuitBreakerPlugin(failureRatio: 0)
        }
        let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
        #expect(text?.contains("failureRatio is 0.0, not above 0 and up to 1") == true)
        await #expect(processExitsWith: .failure) { _ = CircuitBreakerPlugin(failureRatio: 1.01) }
        await #expect(processExitsWith: .failure) { _ = CircuitBreakerPlugin(minimumCallCount: 0) }
        await #expect(processExitsWith: .failure) { _ = CircuitBreakerPlugin(breakDuration: .zero) }
        await #expect(processExitsWith: .failure) { _ = CircuitBreakerPlugin(probeCount: 0) }
        await #expect(processExitsWith: .failure) { _ = CircuitBreakerPlugin(probeTimeout: .zero) }
        await #expect(processExitsWith: .failure) { _ = CircuitBreakerPlugin.Window.count(0) }
        await #expect(processExitsWith: .failure) { _ = CircuitBreakerPlugin.Window.time(.milliseconds(999)) }
    }

    @Test("A circuit that is open is kept while 1,000 other origins are called")
    func manyOrigins() async {
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench(
            ScriptedTransport { request, _ in .status(request.host == "a.test" ? 503 : 200) },
            [breaker]
        )
        await bench.send()
        for number in 0..<1_000 { await bench.send(Ask(url: "https://\(number).test")) }
        #expect(breaker.state == .open)
        #expect(bench.provider.health.first?.details.keys.sorted() == ["https://a.test"])
    }

    @Test("Each hop of a redirect counts for its own origin")
    func redirect() async {
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench(
            [.status(302, headers: [.location: "https://b.test/c"]), .status(503)],
            breaker
        )
        #expect(await bench.send() == "503")
        #expect(breaker.state == .closed)
        #expect(breaker.state(of: "https://b.test") == .open)
    }

    // MARK: Position

    @Test("A breaker outside a cache and two breakers are findings; inside a cache it is none")
    func position() {
        func findings(_ plugins: any PluginType...) -> [String] {
            BreakerBench(ScriptedTransport([]), plugins).provider.explain().findings.map(\.id)
        }
        #expect(findings(CircuitBreakerPlugin(), CachePlugin()) == ["breaker-outside-cache"])
        #expect(findings(CachePlugin(), CircuitBreakerPlugin()) == [])
        #expect(findings(CircuitBreakerPlugin(), CircuitBreakerPlugin()) == ["breaker-twice"])
        #expect(findings(RetryPlugin(), CircuitBreakerPlugin()) == [])
    }

    @Test("Inside a cache, an open circuit refuses no hit; outside limits, a refused request reaches none of them")
    func insideCache() async {
        let breaker = CircuitBreakerPlugin()
        let reached = Atomic(0)
        let inner = PluginStack.exchange { request, _, send in
            reached.add(1, ordering: .relaxed)
            return try await send(request)
        }
        let bench = BreakerBench(
            ScriptedTransport(always: .status(200, headers: [.cacheControl: "max-age=60"], body: "a")),
            [CachePlugin(), breaker, inner]
        )
        #expect(await bench.send() == "200")
        breaker.isolate()
        #expect(await bench.send() == "200")
        #expect(await bench.send(Ask(path: "/other")) == "circuitOpen")
        #expect(reached.load(ordering: .relaxed) == 1)
    }

    @Test("A server that hangs is noticed if attempts are limited, or the whole call")
    func hangingServer() async {
        for (timeout, code) in [
            (TimeoutPlugin(attempt: .seconds(1)), "timeout.attempt"),
            (TimeoutPlugin(total: .seconds(1)), "timeout.total"),
        ] {
            let breaker = CircuitBreakerPlugin.touchy()
            let bench = BreakerBench(
                ScriptedTransport(always: .delayed(.seconds(100), .status(200))),
                [timeout, breaker]
            )
            #expect(await bench.clock.run { await bench.send() } == code)
            #expect(breaker.state == .open)
        }
    }
}
