import Hummingbird
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@testable import gateway

/// The pages, in virtual time.
@Suite(.watched) struct ProductPagesTests {
    private let clock = ManualClock()

    /// Returns pages whose upstreams respond as usual, except for one.
    private func pages(
        _ name: String,
        _ step: @escaping @Sendable () -> ScriptedTransport.Step?
    ) -> (pages: ProductPages, transport: ScriptedTransport) {
        let transport = ScriptedTransport { request, _ in
            (request.head.path?.hasPrefix("/" + name) == true ? step() : nil) ?? Upstreams.step(for: request)
        }
        let configuration = ProviderConfiguration(clock: clock)
        let client = UpstreamClient(.scripted, transport: transport, logging: .off, configuration: configuration)
        return (ProductPages(client: client), transport)
    }

    private func status(of pages: ProductPages, within timeout: Duration? = nil) async throws -> Int {
        do {
            _ = try await pages.page(7, within: timeout)
            return 200
        } catch let problem as Problem {
            return problem.status.code
        }
    }

    @Test(
        "If the reviews cannot be loaded, the page has none",
        arguments: [.status(503), .status(404), .status(200, body: "["), .failure(.connect(.refused)), .hang]
            as [ScriptedTransport.Step]
    )
    func withoutReviews(step: ScriptedTransport.Step) async throws {
        let (pages, _) = pages("reviews") { step }
        let page = try await clock.run { try await pages.page(7, within: nil) }
        #expect(page == ProductPage(id: 7, title: "Lamp", price: .init(cents: 990, currency: "EUR"), reviews: nil))
        #expect(clock.now.offset <= .milliseconds(1_500))
    }

    @Test(
        "If the catalog or the prices fail, the page fails with the status of a gateway",
        arguments: [
            ("catalog", .status(404), 404), ("prices", .status(404), 502), ("prices", .status(500), 502),
            ("prices", .failure(.connect(.refused)), 502), ("prices", .status(200, body: "{}"), 502),
            ("prices", .failure(.timeout(.pool)), 503), ("catalog", .failure(.clientClosed), 503),
            ("catalog", .failure(.timeout(.head)), 504), ("prices", .hang, 504), ("prices", .status(401), 502),
            ("prices", .status(429, headers: [.retryAfter: "7"]), 503),
        ] as [(String, ScriptedTransport.Step, Int)]
    )
    func failures(name: String, step: ScriptedTransport.Step, status: Int) async throws {
        let (pages, _) = pages(name) { step }
        #expect(try await clock.run { try await self.status(of: pages) } == status)
    }

    @Test("A page ends when its caller stops waiting, and each upstream gets the time that is left")
    func deadline() async throws {
        let (pages, transport) = pages("prices") { .hang }
        #expect(try await clock.run { try await self.status(of: pages, within: .milliseconds(300)) } == 504)
        #expect(clock.now.offset == .milliseconds(300))
        let times = transport.sent.map { "\($0.head.authority ?? "") \($0.header("X-Timeout-Ms") ?? "")" }
        #expect(times.sorted() == ["catalog.test 300", "prices.test 300", "reviews.test 150"])
    }

    @Test("The plugins of the client are in the right order")
    func order() {
        let (pages, _) = pages("") { nil }
        #expect(pages.client.provider.explain().findings.map(\.description) == [])
    }

    @Test(
        "A timeout is a positive number of milliseconds",
        arguments: [("250", Duration.milliseconds(250)), ("0", nil), ("-1", nil), ("soon", nil), (nil, nil)]
    )
    func timeoutField(text: String?, timeout: Duration?) throws {
        var fields = HTTPFields()
        fields[try #require(HTTPField.Name("x-timeout-ms"))] = text
        #expect(DeadlinePlugin.timeout(in: fields) == timeout)
    }

    @Test("If the prices are down, their circuit opens, pages fail at once, and the gateway is unhealthy until a probe")
    func outage() async throws {
        let clock = clock
        let (pages, transport) = pages("prices") { clock.now.offset < .seconds(10) ? .status(500) : nil }
        try await clock.run {
            #expect(HealthReport(pages.client).status == .healthy)
            var statuses: [Int] = []
            while statuses.last != 503, statuses.count < 20 { statuses.append(try await self.status(of: pages)) }
            #expect(statuses.first == 502 && statuses.last == 503)
            let (start, count) = (clock.now, transport.sent.count)
            let problem = await #expect(throws: Problem.self) { try await pages.page(7, within: nil) }
            #expect(problem?.retryAfterSeconds == 1)
            #expect(clock.now == start && !transport.sent[count...].contains { $0.head.authority == "prices.test" })
            let health = HealthReport(pages.client)
            #expect(health.status == .unhealthy && health.response.status == .serviceUnavailable)
            #expect(health.upstreams["prices"]?["CircuitBreakerPlugin"]?.hasPrefix("open") == true)
            #expect(health.upstreams["catalog"]?["CircuitBreakerPlugin"] == nil)
            try await clock.sleep(for: .seconds(1))
            #expect(HealthReport(pages.client).status == .degraded, "the next request is a probe")
            try await clock.sleep(for: .seconds(10))
            #expect(try await self.status(of: pages) == 200)
            #expect(HealthReport(pages.client).status == .healthy)
        }
    }

    @Test("An outage of the reviews leaves the gateway healthy enough for a load balancer")
    func reviewsOutage() async throws {
        let (pages, _) = pages("reviews") { .status(500) }
        try await clock.run {
            for _ in 0..<10 { _ = try await pages.page(7, within: nil) }
            let health = HealthReport(pages.client)
            #expect(health.upstreams["reviews"]?["CircuitBreakerPlugin"] != nil)
            #expect(health.status == .degraded && health.response.status == .ok)
        }
    }
}
