import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("RateLimitPlugin: what servers say", .tags(.concurrent), .watched)
struct RateLimitSignalTests {
    private static func server(_ status: Int, _ fields: [String: String]) -> CountingServer {
        var headers = HTTPFields()
        for (name, value) in fields { if let name = HTTPField.Name(name) { headers[name] = value } }
        return CountingServer { [headers] request, _ in
            request.head.path == "/first"
                ? PipelineResponse(request, status, headers) : PipelineResponse(request, 200)
        }
    }

    /// Sends a request, and then another; returns the time between them in seconds.
    private func wait(_ server: CountingServer, _ plugins: [any PluginType]) async -> Double {
        let bench = RateLimitBench(server, plugins)
        await bench.clock.run { _ = await bench.call("/first") }
        await bench.calls(1)
        let arrivals = server.arrivals(after: bench.start)
        return arrivals.count == 2 ? arrivals[1] - arrivals[0] : -1
    }

    @Test(
        "V11: a 403 with Retry-After, and Retry-After-Ms, close the gate",
        arguments: [
            (403, ["Retry-After": "7"], 7.0), (429, ["Retry-After-Ms": "250"], 0.25),
            (429, ["Retry-After-Ms": "250", "Retry-After": "1"], 0.25), (429, ["Retry-After-Ms": "x"], 0),
            (403, [:], 0), (200, ["Retry-After": "7"], 0), (200, ["RateLimit": "limit=9, remaining=0, reset=4"], 4),
        ]
    )
    func fields(status: Int, fields: [String: String], seconds: Double) async {
        #expect(await wait(Self.server(status, fields), [RateLimitPlugin()]) == seconds)
    }

    @Test("V11: the setting decides which fields count, and a closure decides alone")
    func settings() async {
        let fields = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "5"]
        #expect(await wait(Self.server(200, fields), [RateLimitPlugin()]) == 0)
        #expect(await wait(Self.server(200, fields), [RateLimitPlugin(signals: .xRateLimit)]) == 5)
        let none = RateLimitPlugin(signals: [])
        #expect(await wait(Self.server(429, ["Retry-After": "7"]), [none]) == 0)
        let own = RateLimitPlugin { response in response.statusCode == 420 ? .seconds(3) : .zero }
        #expect(await wait(Self.server(420, [:]), [own]) == 3)
        #expect(await wait(Self.server(429, ["Retry-After": "7"]), [own]) == 0)
    }

    @Test("V11: the gate stays closed no longer than the call that closed it may take")
    func bounded() async {
        let plugins: [any PluginType] = [TimeoutPlugin(total: .seconds(10)), RateLimitPlugin()]
        #expect(await wait(Self.server(429, ["Retry-After": "40"]), plugins) == -1)
        let server = Self.server(429, ["Retry-After": "40"])
        let bench = RateLimitBench(server, plugins)
        await bench.clock.run { _ = await bench.call("/first") }
        bench.clock.advance(by: .seconds(10))
        #expect(await bench.calls(1) == ["200"])
    }

    @Test(
        "V11: a server that responds with 429 without a field gets at most twice what it accepts, and more when it recovers"
    )
    func throttling() async {
        let capacity = Tally()
        let server = CountingServer { request, context in
            // Accepts one request in ten, until it has recovered.
            let number = capacity.add()
            let hasRecovered = context.start.duration(to: context.clock.now) > .seconds(3_600)
            return PipelineResponse(request, hasRecovered || number % 10 == 0 ? 200 : 429)
        }
        let bench = RateLimitBench(server, [RateLimitPlugin()])
        func run(_ count: Int) async -> [String] {
            var outcomes: [String] = []
            for _ in 0..<count {
                outcomes.append(await bench.call())
                bench.clock.advance(by: .milliseconds(50))
            }
            return outcomes
        }
        func gauge() -> Double? { bench.provider.health.first?.gauges["https://a.test"]?[.throttledShare] }
        #expect(bench.provider.health.first?.status == .healthy)
        let outcomes = await run(2_000)
        let health = bench.provider.health.first
        let percent = health?.details["https://a.test"]?.split(separator: " ").compactMap { Int($0) }.first
        #expect(health?.status == .degraded)
        #expect(health?.details["https://a.test"] == "refuses \(percent ?? 0) %" && (60...99).contains(percent ?? 0))
        #expect((0.6..<1).contains(gauge() ?? 0))
        let late = outcomes.suffix(1_000)
        let (accepted, refused) = (late.count { $0 == "200" }, late.count { $0 == "limit.rate" })
        #expect(refused > 600, "\(refused)")
        #expect(late.count - refused < 3 * accepted + 60, "\(late.count - refused) sent, \(accepted) accepted")
        bench.clock.advance(by: .seconds(600))
        #expect(bench.provider.health.first?.status == .healthy)
        #expect(gauge() ?? 0 == 0)
        #expect(await run(1).first != "limit.rate")
    }
}
