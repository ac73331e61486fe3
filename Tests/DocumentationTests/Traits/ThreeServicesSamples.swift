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

struct Prices: Upstream, AccessTokenAuthorizable {
    struct ResultType: Decodable { let cents: Int }
    static let name = "prices"
    let id: Int
    var authorizationType: AuthorizationType? { .bearer }  // gets the caller's token
}

struct Reviews: Upstream {
    typealias ResultType = [String]
    static let name = "reviews"
    let id: Int
}
// end

// sample: page
struct ProductPage: Encodable {
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
    // Only the prices get the caller's token. If another service rejects a request, the caller cannot change that.
    if let status = error.status, [401, 403].contains(status.code), error.request?.host == Prices.url.host() {
        return status
    }
    if error.status == .tooManyRequests { return .serviceUnavailable }
    return switch error.code {
    case .circuitOpen, .limit(.concurrency), .limit(.rate), .timeout(.queue), .timeout(.pool), .clientClosed:
        .serviceUnavailable
    case .timeout: .gatewayTimeout
    default: .badGateway
    }
}
// end

// sample: stack
struct Incoming {
    var requestID: String?
    var token: String?
    @TaskLocal static var current = Incoming()
}

func makePlugins() -> PluginStack {
    let metadata = Logger.MetadataProvider { ["request": "\(Incoming.current.requestID ?? "none")"] }
    return .standard(
        .telemetry,
        .resilient,
        .timeouts(TimeoutPlugin(attempt: .seconds(1), total: .seconds(3))),
        .retries(
            RetryPlugin(
                backoff: .exponential(base: .milliseconds(50)),
                budget: RetryBudget(ratio: 0.1, minimumPerSecond: 1)
            )
        ),
        .requestID(RequestIDPlugin { Incoming.current.requestID }),
        logging: .info,
        logger: Logger(label: "client", metadataProvider: metadata)
    ) {
        AccessTokenPlugin(scope: .hosts(["prices.internal.example"])) { _ in Incoming.current.token }
    }
}
// end

/// The samples of the guide OnAServer for a server that calls three others.
enum ThreeServicesSamples {
    static func unshared(_ provider: Provider<MultiTarget>, _ id: Int) async throws -> Prices.ResultType {
        // sample: unshared
        let fresh = RequestOptions { $0.deduplication = .off }
        let price = try await provider.requestDecoded(Prices(id: id), options: fresh)
        // end
        return price
    }
}

// sample: ready
func isReady(_ provider: Provider<MultiTarget>) -> Bool {
    let health = provider.health
    return !health.isRefusing(Catalog.url) && !health.isRefusing(Prices.url)
}
// end

/// The stack of the guide, which logs nothing.
func makeQuietPlugins() -> PluginStack { makePlugins().removing(LoggingPlugin.self) }

@Suite("The guide OnAServer, on three services", .watched)
struct ThreeServicesTests {
    private typealias Steps = [String: ScriptedTransport.Step]

    private static let steps: Steps = [
        "catalog.internal.example": .status(200, body: #"{"title": "Lamp"}"#),
        "prices.internal.example": .status(200, body: #"{"cents": 990}"#),
        "reviews.internal.example": .status(200, body: #"["bright"]"#),
    ]

    private let plugins: PluginStack = makeQuietPlugins()
    private let clock = ManualClock()

    private func makePlugins() -> PluginStack { makeQuietPlugins() }

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
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [makePlugins()],
            configuration: ProviderConfiguration(clock: clock)
        )
        let page = try await clock.run {
            try await ProductPages(provider: provider).page(7, within: .seconds(3))
        }
        #expect(page?.title == "Lamp" && page?.reviews == nil)
        #expect(clock.now.offset == .milliseconds(1_500))  // the reviews get half of 3 s
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

    @Test(
        "A 401 or 403 is passed on if the prices reject the caller's token, and not if another service responds with it",
        arguments: [
            ("prices", 401, 401), ("prices", 403, 403), ("catalog", 401, 502), ("catalog", 403, 502),
        ]
    )
    func rejectedToken(service: String, statusCode: Int, expected: Int) async throws {
        let error = await #expect(throws: PipelineError.self) {
            _ = try await page(["\(service).internal.example": .status(statusCode)])
        }
        #expect(error.map { DocumentationTests.status(of: $0).code } == expected)
    }

    @Test("A 429 of a required service becomes a 503, with its Retry-After")
    func tooManyRequests() async throws {
        let error = await #expect(throws: PipelineError.self) {
            _ = try await page(["prices.internal.example": .status(429, headers: [.retryAfter: "7"])])
        }
        #expect(error.map { DocumentationTests.status(of: $0) } == .serviceUnavailable)
        #expect(error?.retryAfter == .seconds(7))
    }

    @Test("A server is not ready during the break of a required service, and ready for the probe after it")
    func ready() async throws {
        let provider = provider(transport(["prices.internal.example": .status(500)]))
        let pages = ProductPages(provider: provider)
        #expect(isReady(provider))
        try await clock.run {
            var count = 0
            while isReady(provider), count < 20 {
                _ = try? await pages.page(7, within: .seconds(3))
                count += 1
            }
            #expect(count < 20)
            // The longest break: a failed probe of a retry may have begun a second one.
            try await clock.sleep(for: .seconds(5))
            #expect(isReady(provider))
            let prices = provider.health.compactMap { $0.gauges[Prices.url.absoluteString]?[.openness] }
            #expect(prices == [0.5], "the circuit is not closed yet")
        }
    }

    private func page(_ provider: Provider<MultiTarget>, requestID: String?, token: String? = nil) async throws {
        try await Incoming.$current.withValue(Incoming(requestID: requestID, token: token)) {
            _ = try await ProductPages(provider: provider).page(7, within: .seconds(3))
        }
    }

    private static let ids = RequestIDPlugin.standardField

    @Test("The id of the incoming request is sent to each service, and known where the lines of its calls are logged")
    func requestID() async throws {
        let (transport, output) = (transport(), Output())
        let logging = LoggingPlugin(level: .info, form: .summary) { _, _ in
            output.add("\(Incoming.current.requestID ?? "") ")
        }
        try await page(provider(transport, logging), requestID: "a1")
        #expect(transport.sent.map { $0.headers[Self.ids] } == ["a1", "a1", "a1"])
        #expect(output.text == "a1 a1 a1 ")
    }

    @Test("An id that cannot be sent is replaced", arguments: ["", "a b", String(repeating: "a", count: 256)])
    func invalidRequestID(id: String) async throws {
        let transport = transport()
        try await page(provider(transport), requestID: id)
        #expect(transport.sent.first?.headers[Self.ids]?.count == 36)
    }

    /// Builds two pages of the product at the same time, and returns a field of the requests to the prices.
    private func prices(
        _ field: HTTPField.Name,
        tokens: [String?] = [nil, nil],
        _ plugins: [any PluginType]
    ) async throws -> [String?] {
        let transport = transport(Self.steps.mapValues { .delayed(.milliseconds(100), $0) })
        let provider = Provider<MultiTarget>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
        try await clock.run {
            async let first: Void = page(provider, requestID: "a1", token: tokens[0])
            async let second: Void = page(provider, requestID: "b2", token: tokens[1])
            _ = try await (first, second)
        }
        return transport.sent.filter { $0.host == "prices.internal.example" }.map { $0.headers[field] }
    }

    @Test("Equal requests for two incoming requests share one exchange, with one of the ids")
    func sharing() async throws {
        let ids = try await prices(Self.ids, [plugins])
        #expect(ids == ["a1"] || ids == ["b2"])
        #expect(try await prices(Self.ids, [plugins.removing(DeduplicationPlugin.self)]).count == 2)
    }

    @Test("A call whose option turns sharing off has its own exchange")
    func unshared() async throws {
        let transport = transport(Self.steps.mapValues { .delayed(.milliseconds(100), $0) })
        let provider = provider(transport)
        let cents = try await clock.run {
            async let first = ThreeServicesSamples.unshared(provider, 7).cents
            async let second = ThreeServicesSamples.unshared(provider, 7).cents
            return try await [first, second]
        }
        #expect(cents == [990, 990])
        #expect(transport.sent.count == 2)
    }

    @Test("The tokens of two incoming requests are sent, each in an exchange of its own")
    func tokens() async throws {
        let tokens = try await prices(.authorization, tokens: ["x", "y"], [plugins])
        #expect(Set(tokens) == ["Bearer x", "Bearer y"])
        let transport = transport()
        try await page(provider(transport), requestID: "a1", token: "x")
        #expect(transport.sent.count { $0.headers[.authorization] != nil } == 1)
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
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport([]),
            plugins: [DocumentationTests.makePlugins()]
        )
        #expect(provider.explain().findings.isEmpty)
    }
}
#endif
