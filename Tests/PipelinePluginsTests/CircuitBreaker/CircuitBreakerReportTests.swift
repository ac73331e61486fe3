import Pipeline
import PipelinePlugins
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
            [.openness: 1, .failureRatio: 1], [.limit: 7, .inUse: 0, .waiting: 0], [.waiting: 0, .closedSeconds: 0],
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
        #expect(ids(retry, HedgingPlugin(retry: retry)).isEmpty)
        #expect(ids(HedgingPlugin()).isEmpty)
    }
}
