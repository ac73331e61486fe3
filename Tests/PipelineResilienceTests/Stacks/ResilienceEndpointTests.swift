import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginStack.standard(.resilient): endpoints", .tags(.concurrent), .watched)
struct ResilienceEndpointTests {
    private static let once = RequestOptions { $0.retry = .never }

    private static func bench(
        _ transport: ScriptedTransport,
        hedging: HedgingDelay = .never
    ) -> BreakerBench {
        let retry = RetryPlugin()
        let copies: StandardPart =
            if hedging == .never {
                StandardPart([:])
            } else {
                .hedging(HedgingPlugin(after: hedging, partition: .endpoint, budget: retry.budget))
            }
        let parts: [StandardPart] = [.resilient(partition: .endpoint), .retries(retry), copies]
        return BreakerBench(transport, [PluginStack.standard(parts[0], parts[1], parts[2], logging: .off)])
    }

    private static func ask(_ name: String, _ number: Int = 0) -> Ask {
        Ask(path: "/\(name)/\(number)", pathTemplate: "/\(name)/{id}")
    }

    private static func isBad(_ request: PipelineRequest) -> Bool { request.path.hasPrefix("/bad") }

    @Test("V12: an endpoint that fails does not open the circuit of the others of its server")
    func circuit() async {
        let bench = Self.bench(ScriptedTransport { request, _ in .status(Self.isBad(request) ? 500 : 200) })
        for _ in 0..<20 { _ = await bench.send(Self.ask("bad"), Self.once) }
        #expect(await bench.send(Self.ask("bad"), Self.once) == "circuitOpen")
        #expect(await bench.send(Self.ask("good"), Self.once) == "200")
        let health = bench.provider.health.first { $0.plugin == "CircuitBreakerPlugin" }
        #expect(health?.details.keys.sorted() == ["https://a.test GET /bad/{id}"])
    }

    @Test("V12: a 429 with Retry-After of an endpoint holds back no calls of the others")
    func gate() async {
        let bench = Self.bench(
            ScriptedTransport { request, _ in
                Self.isBad(request) ? .status(429, headers: [.retryAfter: "20"]) : .status(200)
            }
        )
        await bench.clock.run {
            #expect(await bench.send(Self.ask("bad"), Self.once) == "429")
            #expect(await bench.send(Self.ask("good"), Self.once) == "200")
        }
        #expect(bench.clock.now.offset == .zero)
    }

    @Test("V12: an endpoint that is slow does not hold the permits of the others")
    func permits() async {
        let bench = Self.bench(
            ScriptedTransport { request, _ in Self.isBad(request) ? .delayed(.seconds(5), .status(200)) : .status(200) }
        )
        await bench.clock.run {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<300 { group.addTask { await bench.send(Self.ask("bad", number), Self.once) } }
                try? await bench.clock.sleep(for: .seconds(1))
                #expect(await bench.send(Self.ask("good"), Self.once) == "200")
                #expect(bench.clock.now.offset == .seconds(1))
            }
        }
    }

    @Test("V12: an endpoint that is slow does not delay the copies of others")
    func hedging() async {
        let sent = Tally()
        let transport = ScriptedTransport { request, _ in
            guard !Self.isBad(request) else { return .delayed(.seconds(2), .status(200)) }
            // One request hangs, after those from which the plugin learns.
            return sent.add() == 31 ? .hang : .delayed(.milliseconds(10), .status(200))
        }
        let bench = Self.bench(transport, hedging: .percentile(0.95))
        await bench.clock.run {
            for number in 0..<30 { await bench.send(Self.ask("good", number)) }
            for number in 0..<30 { await bench.send(Self.ask("bad", number)) }
            let start = bench.clock.now
            #expect(await bench.send(Self.ask("good", 30)) == "200")
            #expect(start.duration(to: bench.clock.now) < .milliseconds(100))
        }
    }
}
