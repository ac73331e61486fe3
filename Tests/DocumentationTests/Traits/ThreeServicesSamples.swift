import Foundation
import Logging
import Pipeline
import PipelineResilience
import PipelineTelemetry
import PipelineTesting
import TestSupport
import Testing

#if Telemetry
// sample: services
protocol Upstream: DecodableTargetType {
    static var name: String { get }
    var id: Int { get }
}

extension Upstream {
    static var url: URL { Endpoint.url("https://\(name).internal.example") }
    var baseURL: URL { Self.url }
    var path: String { "products/\(id)" }
    var pathTemplate: String? { "/products/{id}" }  // for logs, metrics and traces
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}

struct Catalog: Upstream {
    struct ResultType: Decodable { let title: String }
    static let name = "catalog"
    let id: Int
}
// end

struct Prices: Upstream {
    struct ResultType: Decodable { let cents: Int }
    static let name = "prices"
    let id: Int
}

struct Reviews: Upstream {
    typealias ResultType = [String]
    static let name = "reviews"
    let id: Int
}

// sample: page
struct ProductPage {
    let title: String
    let cents: Int
    let reviews: [String]?  // nil if they could not be loaded
}

struct ProductPages: Sendable {
    let provider: Provider<MultiTarget>

    /// Returns nil if the catalog does not have the product.
    func page(_ id: Int, within limit: Duration) async throws -> ProductPage? {
        async let item = item(id, within: limit)
        async let price = load(Prices(id: id), within: limit)
        async let reviews = reviews(id, within: limit / 2)
        guard let title = try await item?.title else { return nil }
        return try await ProductPage(title: title, cents: price.cents, reviews: reviews)
    }

    private func load<Target: Upstream>(
        _ target: Target,
        within limit: Duration
    ) async throws -> sending Target.ResultType {  // sending: it need not be Sendable
        try await provider.requestDecoded(target, options: RequestOptions { $0.totalTimeout = limit })
    }

    private func item(_ id: Int, within limit: Duration) async throws -> Catalog.ResultType? {
        do {
            return try await load(Catalog(id: id), within: limit)
        } catch let error as PipelineError where error.status == .notFound {
            return nil
        }
    }

    private func reviews(_ id: Int, within limit: Duration) async throws -> [String]? {
        do {
            return try await load(Reviews(id: id), within: limit)
        } catch is PipelineError {
            return nil
        }
    }
}
// end

// sample: status
func status(of error: PipelineError) -> HTTPResponse.Status {
    switch error.code {
    case .circuitOpen, .limit(.concurrency), .limit(.rate), .timeout(.queue), .timeout(.pool), .clientClosed:
        .serviceUnavailable
    case .timeout: .gatewayTimeout
    default: .badGateway
    }
}
// end

// sample: stack
enum Incoming { @TaskLocal static var requestID: String? }
// end

/// The samples of the guide OnAServer for a server that calls three others.
enum ThreeServicesSamples {
    static func client(
        _ transport: any Transport
    ) -> (metadata: Logger.MetadataProvider, plugins: PluginStack, provider: Provider<MultiTarget>) {
        // sample: stack
        let metadata = Logger.MetadataProvider { ["request": "\(Incoming.requestID ?? "none")"] }
        let logger = Logger(label: "client", metadataProvider: metadata)
        let plugins = PluginStack.standard(
            .telemetry,
            .resilient,
            .timeouts(TimeoutPlugin(attempt: .seconds(1), total: .seconds(3))),
            .retries(RetryPlugin(budget: RetryBudget(ratio: 0.1, minimumPerSecond: 1))),
            .requestID(RequestIDPlugin { Incoming.requestID }),
            logging: .info,
            logger: logger
        )
        let provider = Provider<MultiTarget>(transport: transport, plugins: [plugins])
        // end
        return (metadata, plugins, provider)
    }

    /// The stack of the guide, which logs nothing.
    static var plugins: PluginStack { client(ScriptedTransport([])).plugins.removing(LoggingPlugin.self) }

    static func page(_ pages: ProductPages, requestID: String) async throws -> ProductPage? {
        // sample: call
        let page = try await Incoming.$requestID.withValue(requestID) {
            try await pages.page(7, within: .seconds(3))
        }
        // end
        return page
    }

    static func isReady(_ provider: Provider<MultiTarget>) -> Bool {
        // sample: ready
        let health = provider.health
        let isReady = !health.isRefusing(Catalog.url) && !health.isRefusing(Prices.url)
        // end
        return isReady
    }
}

@Suite("The guide OnAServer, on three services", .watched)
struct ThreeServicesTests {
    private typealias Steps = [String: ScriptedTransport.Step]

    private static let steps: Steps = [
        "catalog.internal.example": .status(200, body: #"{"title": "Lamp"}"#),
        "prices.internal.example": .status(200, body: #"{"cents": 990}"#),
        "reviews.internal.example": .status(200, body: #"["bright"]"#),
    ]

    private let plugins = ThreeServicesSamples.plugins
    private let clock = ManualClock()

    private func transport(_ changes: Steps = [:]) -> ScriptedTransport {
        let steps = Self.steps.merging(changes) { $1 }
        return ScriptedTransport { request, _ in steps[request.host ?? ""] ?? .status(404) }
    }

    private func provider(_ transport: any Transport, _ plugins: any PluginType...) -> Provider<MultiTarget> {
        Provider(transport: transport, plugins: plugins + [self.plugins], configuration: .init(clock: clock))
    }

    private func page(_ changes: Steps = [:]) async throws -> ProductPage? {
        let pages = ProductPages(provider: provider(transport(changes)))
        return try await clock.run { try await pages.page(7, within: .seconds(3)) }
    }

    // sample: test
    @Test("If the reviews hang, the page has none after half of the time")
    func hangingReviews() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport { request, _ in
            switch request.host {
            case "catalog.internal.example": .status(200, body: #"{"title": "Lamp"}"#)
            case "prices.internal.example": .status(200, body: #"{"cents": 990}"#)
            default: .hang
            }
        }
        let configuration = ProviderConfiguration(clock: clock)
        let provider = Provider<MultiTarget>(transport: transport, plugins: [plugins], configuration: configuration)
        let page = try await clock.run {
            try await ProductPages(provider: provider).page(7, within: .seconds(3))
        }
        #expect(page?.title == "Lamp" && page?.reviews == nil)
        #expect(clock.now.offset == .milliseconds(1_500))
    }
    // end

    @Test("A page has what the three services return")
    func complete() async throws {
        let page = try await page()
        #expect(page?.title == "Lamp" && page?.cents == 990 && page?.reviews == ["bright"])
    }

    @Test("There is no page of a product that the catalog does not have")
    func missing() async throws {
        #expect(try await page(["catalog.internal.example": .status(404)]) == nil)
    }

    @Test(
        "A failure of a required service has the status of a gateway",
        arguments: [
            (.status(404), .badGateway), (.failure(.connect(.refused)), .badGateway), (.hang, .gatewayTimeout),
            (.failure(.timeout(.pool)), .serviceUnavailable), (.failure(.clientClosed), .serviceUnavailable),
        ] as [(ScriptedTransport.Step, HTTPResponse.Status)]
    )
    func failures(step: ScriptedTransport.Step, status: HTTPResponse.Status) async throws {
        let error = await #expect(throws: PipelineError.self) {
            _ = try await page(["prices.internal.example": step])
        }
        #expect(error.map { DocumentationTests.status(of: $0) } == status)
    }

    @Test("A server is not ready during the break of a required service, and ready for the probe after it")
    func ready() async throws {
        let provider = provider(transport(["prices.internal.example": .status(500)]))
        let pages = ProductPages(provider: provider)
        #expect(ThreeServicesSamples.isReady(provider))
        try await clock.run {
            var count = 0
            while ThreeServicesSamples.isReady(provider), count < 20 {
                _ = try? await pages.page(7, within: .seconds(3))
                count += 1
            }
            #expect(count < 20)
            // The longest break: a failed probe of a retry may have begun a second one.
            try await clock.sleep(for: .seconds(5))
            #expect(ThreeServicesSamples.isReady(provider))
            let prices = provider.health.compactMap { $0.gauges[Prices.url.absoluteString]?[.openness] }
            #expect(prices == [0.5], "the circuit is not closed yet")
        }
    }

    @Test("The id of the incoming request is sent to each service, and known where the lines of its calls are logged")
    func requestID() async throws {
        let (metadata, transport, output) = (ThreeServicesSamples.client(transport()).metadata, transport(), Output())
        let logging = LoggingPlugin(level: .info, form: .summary) { _, _ in
            output.add("\(metadata.get()["request"] ?? "") ")
        }
        let pages = ProductPages(provider: provider(transport, logging))
        _ = try await ThreeServicesSamples.page(pages, requestID: "a1")
        #expect(transport.sent.map { $0.headers[RequestIDPlugin.standardField] } == ["a1", "a1", "a1"])
        #expect(output.text == "a1 a1 a1 ")
        #expect(metadata.get() == ["request": "none"])
    }

    @Test("An id that cannot be sent is replaced", arguments: ["", "a b", String(repeating: "a", count: 256)])
    func invalidRequestID(id: String) async throws {
        let transport = transport()
        _ = try await ThreeServicesSamples.page(ProductPages(provider: provider(transport)), requestID: id)
        #expect(transport.sent.first?.headers[RequestIDPlugin.standardField]?.count == 36)
    }

    @Test("Providers with the same stack share the budget of its retries for a host")
    func budget() async {
        let transport = ScriptedTransport(always: .failure(.connectionLost))
        let stack = plugins.removing(CircuitBreakerPlugin.self)
        let providers = [0, 1].map { _ in
            Provider<MultiTarget>(transport: transport, plugins: [stack], configuration: .init(clock: clock))
        }
        let options = RequestOptions { $0.retry = .init(backoff: .immediate) }
        for _ in 1...10 {
            for provider in providers { _ = try? await provider.request(Catalog(id: 7), options: options) }
        }
        // 20 calls, 1 retry a second for 10 s, and 1 for every 10 calls.
        #expect(transport.sent.count == 20 + 10 + 2)
    }

    @Test("The stack has no findings")
    func order() {
        #expect(ThreeServicesSamples.client(ScriptedTransport([])).provider.explain().findings.isEmpty)
    }
}
#endif
