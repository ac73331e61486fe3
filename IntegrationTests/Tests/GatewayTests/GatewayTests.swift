import Foundation
import Metrics
import Pipeline
import PipelineRecording
import PipelineTesting
import ServiceLifecycle
import TestSupport
import Testing
import Tracing

@testable import gateway

/// The server, called over loopback sockets.
@Suite(.realTime, .watched) struct GatewayTests {
    @Test("A page has the title, the price and the reviews of a product")
    func page() async throws {
        try await DemoUpstreams().run { upstreams in
            try await Self.run(UpstreamClient(upstreams, transport: AsyncHTTPClientTransport())) { gateway in
                let page = try await gateway.client.request(Probe(gateway.origin, "products/7")).map(ProductPage.self)
                #expect(page.title == "Lamp No. 7")
                #expect(page.price == PriceTarget.ResultType(cents: 1_007, currency: "EUR"))
                #expect(page.reviews == [ReviewsTarget.Review(stars: 3, text: "It is a lamp.")])
            }
        }
    }

    @Test("While the reviews fail, no page fails, and each lacks its reviews")
    func load() async throws {
        let demo = DemoUpstreams()
        try await demo.run { upstreams in
            try await Self.run(
                UpstreamClient(upstreams, transport: AsyncHTTPClientTransport(), logging: .off)
            ) { gateway in
                let before = try await LoadTest.load(gateway.origin, ids: 1..<41)
                #expect((before.durations.count, before.failureCount, before.degradedCount) == (40, 0, 0))
                demo.setFailing(ReviewsTarget.name, true)
                let during = try await LoadTest.load(gateway.origin, ids: 41..<81)
                #expect((during.durations.count, during.failureCount, during.degradedCount) == (40, 0, 40))
            }
        }
    }

    @Test("Failures of upstreams become problem details, which contain nothing that an upstream has sent")
    func problems() async throws {
        let transport = ScriptedTransport { request, _ in
            request.head.path == "/prices/8"
                ? .status(418, headers: [.server: "secret"], body: "secret") : Upstreams.step(for: request)
        }
        try await Self.run(UpstreamClient(.scripted, transport: transport, logging: .off)) { gateway in
            let failed = try await gateway.client.request(Probe(gateway.origin, "products/8"))
            #expect(failed.statusCode == 502)
            #expect(failed.headers[.contentType] == "application/problem+json")
            #expect(failed.problemDetails?.status == 502)
            for text in ["secret", "prices", "418"] {
                #expect(!String(decoding: failed.data, as: UTF8.self).contains(text))
                #expect(!failed.headers.contains { $0.value.contains(text) })
            }
            #expect(try await gateway.client.request(Probe(gateway.origin, "products/lamp")).statusCode == 400)
        }
    }

    @Test("The metrics count the pages and the calls of upstreams")
    func metrics() async throws {
        let metrics = PrometheusMetrics()
        let transport = ScriptedTransport { request, _ in Upstreams.step(for: request) }
        try await withMetricsFactory(metrics) {
            try await Self.run(UpstreamClient(.scripted, transport: transport), metrics) { gateway in
                for id in 1...3 { _ = try await gateway.client.request(Probe(gateway.origin, "products/\(id)")) }
                let response = try await gateway.client.request(Probe(gateway.origin, "metrics"))
                let lines = try response.mapString().split(separator: "\n")
                let pages = lines.first { $0.hasPrefix("hb_requests_total{") }
                #expect(lines.contains("# TYPE http_server_active_requests gauge"))
                #expect(lines.contains(#"http_server_active_requests{http_request_method="GET"} 0.0"#))
                #expect(pages?.contains(#"http_route="/products/{id}""#) == true && pages?.hasSuffix(" 3.0") == true)
                for name in ["catalog", "prices", "reviews"] {
                    let count = lines.first {
                        $0.hasPrefix("http_client_request_duration_count{") && $0.contains("\(name).test")
                    }
                    #expect(count?.hasSuffix(" 3") == true)
                }
            }
        }
    }

    @Test("The trace of an incoming request continues in the requests to all upstreams")
    func trace() async {
        await #expect(processExitsWith: .success) {
            InstrumentationSystem.bootstrap(TraceContext())
            let transport = ScriptedTransport { request, _ in Upstreams.step(for: request) }
            let trace = ["traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "a=b"]
            try await GatewayTests.run(UpstreamClient(.scripted, transport: transport)) { gateway in
                var probe = Probe(gateway.origin, "products/7")
                probe.headers = trace
                _ = try await gateway.client.request(probe)
            }
            precondition(transport.sent.count == 3)
            for request in transport.sent {
                precondition(request.header("traceparent") == trace["traceparent"], "\(request.headers)")
                precondition(request.header("tracestate") == "a=b", "\(request.headers)")
            }
        }
    }

    @Test("After the signal to shut down, the gateway refuses connections, finishes the page in progress, and ends")
    func shutdown() async throws {
        let upstream = try LoopbackServer { request in
            let path = request.target
            return path.hasPrefix("/prices")
                ? [.hold("price"), .respond(200, body: Upstreams.document(for: path))]
                : [.respond(200, body: Upstreams.document(for: path))]
        }
        defer { upstream.stop() }
        let upstreams = Upstreams(catalog: upstream.url, prices: upstream.url, reviews: upstream.url)
        let transport = AsyncHTTPClientTransport()
        try await Self.run(
            UpstreamClient(upstreams, transport: transport, close: { try await transport.shutdown() })
        ) { gateway in
            async let page = gateway.client.request(Probe(gateway.origin, "products/7"))
            try await upstream.wait { $0.holdCount == 1 }
            await gateway.services.triggerGracefulShutdown()
            try await eventually(looks: 10_000) {
                let other = Provider<Probe>(transport: AsyncHTTPClientTransport())
                return try await other.failureCode(Probe(gateway.origin, "health")) == .connect(.refused)
            }
            upstream.release("price")
            #expect(try await page.statusCode == 200)
        }
        let late = Provider<Probe>(transport: transport)
        #expect(try await late.failureCode(Probe(upstream.url)) == .clientClosed)
    }

    @Test("Pages that are built from a recording of the upstreams equal those that were recorded")
    func replay() async throws {
        let file = try TemporaryFolder()
        let har = file.file("upstreams.har")
        try await DemoUpstreams().run { upstreams in
            func pages(_ transport: any Transport) async throws -> [ProductPage] {
                let pages = ProductPages(client: UpstreamClient(upstreams, transport: transport))
                return [
                    try await pages.page(7, within: nil), try await pages.page(8, within: .seconds(2)),
                    try await pages.page(9, within: nil),
                ]
            }
            let recorder = try RecordingTransport(har, wrapping: AsyncHTTPClientTransport(), mode: .recordAll)
            let recorded = try await pages(recorder)
            try await recorder.finish()
            let replay = try ReplayTransport(har)
            #expect(try await pages(replay) == recorded)
            #expect(replay.recording.entries.count == 9 && replay.recording.unused.isEmpty)
        }
    }

    /// A running gateway.
    struct Running: Sendable {
        let origin: URL
        let services: ServiceGroup
        let client = Provider<Probe>(transport: AsyncHTTPClientTransport())
    }

    static func run(
        _ client: UpstreamClient,
        _ metrics: PrometheusMetrics = PrometheusMetrics(),
        _ body: (Running) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = GatewayServer(client: client, metrics: metrics)
        let services = ServiceGroup(configuration: server.makeConfiguration { port.yield($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { port.finish() }
                try await services.run()
            }
            let number = try #require(await ports.first { _ in true })
            try await body(Running(origin: Endpoint.url("http://127.0.0.1:\(number)"), services: services))
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }
}
