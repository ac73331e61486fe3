import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("CircuitBreakerPlugin, what is behind a refusal", .watched)
struct CircuitBreakerReportTests {
    @Test(
        "A refused call names the failure that opened the circuit",
        arguments: [503, nil] as [Int?]
    )
    func cause(status: Int?) async {
        let step = status.map { ScriptedTransport.Step.status($0) } ?? .failure(.connectionLost)
        let code: PipelineError.Code = status == nil ? .connectionLost : .unacceptableStatus
        let text = status.map { "status \($0)" } ?? "connectionLost"
        let bench = BreakerBench([step], CircuitBreakerPlugin.touchy())
        await bench.send()
        let error = await bench.error()
        #expect(error?.code == .circuitOpen)
        #expect(error?.refusalCause?.code == code)
        #expect(error?.refusalCause?.statusCode == status)
        #expect(error?.reason.contains("is open after \(text), and the next probe") == true, "\(error?.reason ?? "")")
    }

    @Test("A refused call names an exchange that was cancelled because the call was late as a timeout")
    func late() async {
        let bench = BreakerBench(
            ScriptedTransport(always: .hang),
            [TimeoutPlugin(total: .seconds(2)), CircuitBreakerPlugin.touchy()]
        )
        _ = await bench.clock.run { await bench.send() }
        let error = await bench.error()
        #expect(error?.refusalCause?.code == .timeout(.total))
        #expect(error?.reason.contains("is open after timeout.total, and") == true, "\(error?.reason ?? "")")
    }

    @Test("A refused call names a slow success as a timeout of the head")
    func slow() async {
        let breaker = CircuitBreakerPlugin(
            failureRatio: 1,
            minimumCallCount: 1,
            window: .count(1),
            slowCallDuration: .seconds(1)
        )
        let bench = BreakerBench([.delayed(.seconds(1), .status(200))], breaker)
        #expect(await bench.clock.run { await bench.send() } == "200")
        let error = await bench.error()
        #expect(error?.refusalCause?.code == .timeout(.head))
        #expect(error?.refusalCause?.statusCode == nil)
    }

    @Test("A fallback sees what is behind a refusal")
    func fallback() async {
        let replaced = Results<Int?>()
        let policy = FallbackPolicy { outcome in
            replaced.add(outcome.error?.refusalCause?.statusCode)
            return nil
        }
        let fallback = FallbackPlugin(for: policy) { PipelineResponse(request: $0.request, statusCode: 203) }
        let bench = BreakerBench([.status(500)], fallback, CircuitBreakerPlugin.touchy())
        #expect(await bench.send() == "203")
        #expect(await bench.send() == "203")
        #expect(replaced.all == [nil, 500])
    }

    @Test("A rate limit that refuses a call names the response that closed the gate, and a fallback sees it")
    func gate() async {
        let replaced = Results<Int?>()
        let policy = FallbackPolicy { outcome in
            replaced.add(outcome.error?.refusalCause?.statusCode)
            return false
        }
        let fallback = FallbackPlugin(for: policy) { PipelineResponse(request: $0.request, statusCode: 203) }
        for (status, field, cause) in [(503, "Retry-After", 503), (200, "RateLimit", nil)] as [(Int, String, Int?)] {
            let value = field == "RateLimit" ? "limit=9, remaining=0, reset=30" : "30"
            let step = ScriptedTransport.Step.status(status, headers: [HTTPField.Name(field) ?? .age: value])
            let plugin = RateLimitPlugin(RateLimit(9, per: .seconds(1)), maximumWait: .zero)
            let bench = BreakerBench([step, .status(200), .status(200)], fallback, plugin)
            await bench.send()
            let error = await bench.error()
            #expect(error?.code == .limit(.rate))
            #expect(error?.refusalCause?.statusCode == cause)
            #expect(error?.reason.hasPrefix("after status 503, the rate limit") == (cause != nil))
            #expect(replaced.all.last == cause)
            // The gate is behind no refusal after it has opened.
            for _ in 0..<2 {
                bench.clock.advance(by: .seconds(60))
                #expect(await bench.send() == "200")
            }
            let later = await bench.error()
            #expect(later?.code == .limit(.rate) && later?.refusalCause == nil)
        }
    }

    @Test("A rate limit that throttles requests names the status 429")
    func throttling() async {
        let bench = BreakerBench(ScriptedTransport(always: .status(429)), [RateLimitPlugin()])
        var error: PipelineError?
        for _ in 0..<100 where error == nil { error = await bench.error() }
        #expect(error?.code == .limit(.rate) && error?.refusalCause?.statusCode == 429)
    }

    @Test(
        "A refusal after a retry names the failure that the attempt before got",
        arguments: [
            ("limit.rate", RateLimitPlugin(RateLimit(1, per: .seconds(100)), maximumWait: .zero)),
            ("limit.concurrency", ConcurrencyLimitPlugin(.fixed(1), queue: 0)),
            ("timeout.queue", ConcurrencyLimitPlugin(.fixed(1), maximumWait: .seconds(1))),
        ] as [(String, any PluginType)]
    )
    func retries(code: String, plugin: any PluginType) async {
        let transport = ScriptedTransport { _, index in
            index == 0 ? .status(500) : .delayed(.seconds(20), .status(200))
        }
        let bench = BreakerBench(transport, [RetryPlugin(backoff: .constant(.seconds(1))), plugin])
        let error = await bench.clock.run {
            async let error = bench.error()
            // Another call takes the permit before the retry.
            try? await bench.clock.sleep(for: .milliseconds(500))
            async let other = bench.send(Ask(path: "/other"), .init { $0.retry = .never })
            _ = await other
            return await error
        }
        #expect(error?.code.rawValue == code)
        #expect(error?.refusalCause?.statusCode == 500)
        #expect(error?.reason.hasPrefix("after status 500, ") == true, "\(error?.reason ?? "")")
        #expect(error?.exchanges.map(\.statusCode) == [500])
    }

    @Test("A thousand refused calls write one line of the level error in 10 s, and all of them one of the level info")
    func lines() async {
        let lines = LogLines()
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench([], LoggingPlugin(level: .error, handler: lines.handler), breaker)
        breaker.isolate()
        for _ in 0..<1_000 { await bench.send() }
        #expect(lines.all.count == 1)
        bench.clock.advance(by: .seconds(11))
        for _ in 0..<10 { await bench.send() }
        #expect(lines.all.count == 2)
        #expect(lines.all.allSatisfy { $0.contains("circuitOpen") })

        let all = LogLines()
        let detailed = BreakerBench([], LoggingPlugin(level: .info, handler: all.handler), breaker)
        for _ in 0..<10 { await detailed.send() }
        #expect(all.all.count == 10)
        #expect(all.all.count { $0.hasPrefix("error") } == 1)
    }

    @Test("Of more hosts than are remembered, each still has its line of the level error")
    func linesOfManyHosts() async {
        let lines = LogLines()
        let breaker = CircuitBreakerPlugin.touchy()
        let bench = BreakerBench([], LoggingPlugin(level: .error, handler: lines.handler), breaker)
        breaker.isolate()
        for number in 0..<150 {
            for _ in 0..<2 { await bench.send(Ask(url: "https://h\(number).test")) }
        }
        #expect(lines.all.count == 150)
    }

    @Test("The line of the failure that opens a circuit says so, although its retry is refused")
    func opening() async {
        let lines = LogLines()
        let bench = BreakerBench(
            [.status(500)],
            LoggingPlugin(level: .error, handler: lines.handler),
            RetryPlugin(backoff: .immediate),
            CircuitBreakerPlugin.touchy()
        )
        await bench.send()
        #expect(lines.all.count == 1)
        #expect(lines.text.contains("after status 500"), "\(lines.text)")
        #expect(lines.text.contains("CircuitBreakerPlugin opened"), "\(lines.text)")
    }

    @Test("The figures of circuits and limits are numbers")
    func gauges() async {
        let bench = BreakerBench(
            [.status(500)],
            CircuitBreakerPlugin.touchy(),
            ConcurrencyLimitPlugin(.fixed(7)),
            RateLimitPlugin(RateLimit(5, per: .seconds(1)))
        )
        await bench.send()
        let gauges: [[PluginHealth.Gauge: Double]] = bench.provider.health.compactMap { $0.gauges["https://a.test"] }
        typealias Figures = [PluginHealth.Gauge: Double]
        let expected: [Figures] = [
            [.openness: 1, .failureRatio: 1], [.limit: 7, .inUse: 0, .waiting: 0],
            [.waiting: 0, .closedSeconds: 0, .throttledShare: 0],
        ]
        #expect(gauges == expected)
    }

    @Test("The figures of a circuit are those of the moment: half open after its break, no failures after its window")
    func laterGauges() async {
        let breaker = CircuitBreakerPlugin(failureRatio: 0.5, minimumCallCount: 2, window: .time(.seconds(10)))
        let bench = BreakerBench([.status(500), .status(500), .status(500)], breaker)
        func gauges() -> [PluginHealth.Gauge: Double]? { bench.provider.health.first?.gauges["https://a.test"] }
        await bench.send()
        #expect(gauges() == [.openness: 0, .failureRatio: 1])
        bench.clock.advance(by: .seconds(12))
        #expect(gauges() == [.openness: 0, .failureRatio: 0])
        await bench.send()
        await bench.send()
        #expect(gauges()?[.openness] == 1)
        bench.clock.advance(by: .seconds(6))
        #expect(gauges()?[.openness] == 0.5)
    }

    @Test("A breaker without an attempt timeout has a hint, and copies on another budget than the retries a finding")
    func findings() {
        func explain(_ plugins: [any PluginType]) -> PipelineDescription {
            let configuration = ProviderConfiguration(findings: .report { _ in })
            let transport = ScriptedTransport([])
            return Provider<Ask>(transport: transport, plugins: plugins, configuration: configuration).explain()
        }
        func ids(_ plugins: any PluginType...) -> [String] { explain(plugins).findings.map(\.id) }
        func hints(_ plugins: any PluginType...) -> [String] { explain(plugins).hints.map(\.id) }
        let retry = RetryPlugin()
        #expect(hints(CircuitBreakerPlugin()) == ["breaker-without-timeout"])
        #expect(hints(TimeoutPlugin(attempt: .seconds(1)), CircuitBreakerPlugin()).isEmpty)
        #expect(hints(TimeoutPlugin(total: .seconds(1)), CircuitBreakerPlugin()).isEmpty)
        #expect(ids(RetryPlugin(), HedgingPlugin()) == ["hedge-on-another-budget"])
        #expect(ids(retry, HedgingPlugin(budget: retry.budget)).isEmpty)
        #expect(ids(HedgingPlugin()).isEmpty)
    }
}
