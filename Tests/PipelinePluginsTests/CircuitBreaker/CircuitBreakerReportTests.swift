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
