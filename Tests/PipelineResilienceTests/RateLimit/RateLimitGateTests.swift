import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("RateLimitPlugin: gate", .tags(.concurrent), .watched)
struct RateLimitGateTests {
    private static func field(_ name: String, _ value: String) -> HTTPFields {
        guard let name = HTTPField.Name(name) else { return [:] }
        return [name: value]
    }

    /// A server that turns away its first request, and wants none before 10 s have passed.
    private static func server(_ code: Int, _ headers: HTTPFields) -> CountingServer {
        CountingServer { request, _ in
            request.head.path == "/first" ? PipelineResponse(request, code, headers) : PipelineResponse(request, 200)
        }
    }

    /// Sends the first request, and then others at the same time.
    private func run(_ bench: RateLimitBench, _ count: Int) async -> [Double] {
        await bench.clock.run { _ = await bench.call("/first") }
        await bench.calls(count)
        return Array(bench.server.arrivals(after: bench.start).dropFirst())
    }

    @Test("After a 429, no request is sent before the moment; the waiting ones follow within a second, evenly")
    func spread() async {
        let bench = RateLimitBench(Self.server(429, [.retryAfter: "10"]), [RateLimitPlugin()])
        let moments = await run(bench, 50)
        #expect(moments.first == 10)
        #expect(moments.count == 50)
        for (index, moment) in moments.enumerated() { #expect(abs(moment - 10 - Double(index) / 51) < 0.000_1) }
    }

    @Test("The waiting requests stay within the rate, even if that takes longer than the spread")
    func spreadWithinRate() async {
        let plugin = RateLimitPlugin(RateLimit(100, per: .seconds(1)))
        let server = CountingServer(delay: 0...50_000) { request, _ in
            request.head.path == "/first"
                ? PipelineResponse(request, 429, [.retryAfter: "10"]) : PipelineResponse(request, 200)
        }
        let bench = RateLimitBench(server, [plugin])
        let moments = await run(bench, 500)
        #expect((10...10.1).contains(moments[0]))
        #expect(server.highestCount(in: .seconds(1)) == 100)
        #expect(moments[499] > 14.9)
        #expect(moments[499] < 15.3)
    }

    @Test(
        "Both forms of Retry-After, and RateLimit, close the gate",
        arguments: [
            (429, ["Retry-After": "7"], 7), (503, ["Retry-After": "7"], 7),
            (503, ["Retry-After": "Thu, 01 Jan 2026 00:00:08 GMT"], 8),
            // The server's clock is an hour ahead.
            (503, ["Retry-After": "Thu, 01 Jan 2026 01:00:08 GMT", "Date": "Thu, 01 Jan 2026 01:00:01 GMT"], 7),
            (200, ["RateLimit": #""a";r=0;t=9"#], 9), (429, ["RateLimit": #""a";r=0;t=9"#], 9),
            (429, ["RateLimit": #""a";r=0;t=9"#, "Retry-After": "4"], 4),
            (200, ["Retry-After": "7"], 0), (500, ["Retry-After": "7"], 0), (429, [:], 0),
            (429, ["Retry-After": "0"], 0), (429, ["Retry-After": "soon"], 0), (429, ["Retry-After": "999"], 60),
        ] as [(Int, [String: String], Double)]
    )
    func forms(code: Int, fields: [String: String], seconds: Double) async {
        var headers = HTTPFields()
        for (name, value) in fields { headers.append(contentsOf: Self.field(name, value)) }
        let bench = RateLimitBench(Self.server(code, headers), [RateLimitPlugin()])
        #expect(await run(bench, 1) == [seconds])
    }

    @Test("A gate is extended, but not shortened")
    func extension_() async {
        let server = CountingServer(delay: 1...1) { request, _ in
            let waits = ["/0": "20", "/1": "30", "/2": "10"]
            guard let wait = request.head.path.flatMap({ waits[$0] }) else { return PipelineResponse(request, 200) }
            return PipelineResponse(request, 429, [.retryAfter: wait])
        }
        let bench = RateLimitBench(server, [RateLimitPlugin()])
        await bench.calls(3)
        await bench.clock.run { _ = await bench.call() }
        #expect(server.arrivals(after: bench.start).last ?? 0 > 30)
        #expect(server.arrivals(after: bench.start).last ?? 99 < 30.001)
    }

    @Test("The gate of one authority does not hold up another")
    func partitions() async throws {
        let bench = RateLimitBench(Self.server(429, [.retryAfter: "10"]), [RateLimitPlugin()])
        await bench.clock.run {
            _ = await bench.call("/first")
            _ = try? await bench.provider.request(Ask(url: "https://b.test"))
        }
        #expect(bench.server.arrivals(after: bench.start) == [0, 0])
    }

    @Test("Calls that were turned away are retried at the moment, once, and spread")
    func retries() async {
        let server = CountingServer(delay: 1...1) { request, context in
            context.attempt == 1 ? PipelineResponse(request, 429, [.retryAfter: "10"]) : PipelineResponse(request, 200)
        }
        let bench = RateLimitBench(server, [RetryPlugin(budget: .unlimited), RateLimitPlugin()])
        let outcomes = await bench.calls(40)
        #expect(outcomes.allSatisfy { $0 == "200" })
        let moments = server.arrivals(after: bench.start).dropFirst(40)
        #expect(moments.count == 40)
        #expect((10...10.001).contains(moments.first ?? 0))
        #expect(moments.last ?? 0 > 10.9)
        #expect(moments.last ?? 99 <= 11.1)
        let gaps = zip(moments, moments.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 > 0.02 })
    }

    @Test("Calls that come while the others resume join the line, which dissolves without a burst")
    func newcomers() async {
        let bench = RateLimitBench(Self.server(429, [.retryAfter: "10"]), [RateLimitPlugin()])
        await bench.clock.run {
            _ = await bench.call("/first")
            await withTaskGroup { group in
                for _ in 0..<50 { group.addTask { _ = await bench.call() } }
                for index in 0..<50 {
                    group.addTask {
                        try? await bench.clock.sleep(for: .milliseconds(10_000 + 20 * index))
                        _ = await bench.call()
                    }
                }
            }
        }
        let moments = Array(bench.server.arrivals(after: bench.start).dropFirst())
        #expect(moments.count == 100)
        #expect(zip(moments, moments.dropFirst()).allSatisfy { $1 - $0 > 0.001 })
        #expect(moments[99] < 12)
    }

    @Test("Responses of a replay close no gate")
    func replays() async {
        let server = CountingServer { request, context in
            context.report(.replayed(true))
            return PipelineResponse(request, 429, [.retryAfter: "10"])
        }
        let bench = RateLimitBench(server, [RateLimitPlugin()])
        await bench.calls(2)
        await bench.calls(2)
        #expect(server.arrivals(after: bench.start) == [0, 0, 0, 0])
    }

    @Test("Responses of a cache close no gate")
    func cachedResponses() async {
        let cache: any PluginType = .exchange { request, _, send in
            guard request.head.path == "/first" else { return try await send(request) }
            var response = PipelineResponse(request, 429, [.retryAfter: "10"])
            response.source = .cache
            return response
        }
        let bench = RateLimitBench(CountingServer(), [RateLimitPlugin(), cache])
        await bench.clock.run { _ = await bench.call("/first") }
        await bench.calls(1)
        #expect(bench.server.arrivals(after: bench.start) == [0])
    }

    @Test("A response that comes after its call was cancelled closes no gate")
    func lateResponse() async {
        let server = CountingServer { request, context in
            guard request.head.path == "/first" else { return PipelineResponse(request, 200) }
            try? await context.clock.sleep(for: .seconds(1))
            return PipelineResponse(request, 429, [.retryAfter: "10"])
        }
        let bench = RateLimitBench(server, [RateLimitPlugin()])
        await bench.clock.run {
            await withTaskGroup { group in
                group.addTask { _ = await bench.call("/first") }
                try? await bench.clock.sleep(for: .milliseconds(500))
                group.cancelAll()
            }
            _ = await bench.call()
        }
        #expect(server.arrivals(after: bench.start).last ?? 9 < 1)
    }
}
