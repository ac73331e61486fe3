import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

// sample: services
protocol Upstream: DecodableTargetType {
    static var name: String { get }
    var id: Int { get }
}

extension Upstream {
    var baseURL: URL { Endpoint.url("https://\(Self.name).internal.example") }
    var path: String { "products/\(id)" }
    var pathTemplate: String? { "/products/{id}" }  // for metrics and traces
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

    func page(_ id: Int, within limit: Duration) async throws -> ProductPage {
        async let item = load(Catalog(id: id), within: limit)
        async let price = load(Prices(id: id), within: limit)
        async let reviews = reviews(id, within: limit / 2)
        return try await ProductPage(title: item.title, cents: price.cents, reviews: reviews)
    }

    private func load<Target: Upstream>(
        _ target: Target,
        within limit: Duration
    ) async throws -> sending Target.ResultType {
        try await provider.requestDecoded(target, options: RequestOptions { $0.totalTimeout = limit })
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

/// The samples of the guide OnAServer for a server that calls three others.
enum ThreeServicesSamples {
    static func provider(_ transport: any Transport) -> (PluginStack, Provider<MultiTarget>) {
        // sample: provider
        let plugins = PluginStack.standard(
            .resilient,
            .timeouts(TimeoutPlugin(attempt: .seconds(1), total: .seconds(3))),
            .breaker(CircuitBreakerPlugin(failureRatio: 0.5, minimumCallCount: 10, breakDuration: .seconds(1)))
        )
        let provider = Provider<MultiTarget>(transport: transport, plugins: [plugins])
        // end
        return (plugins, provider)
    }

    // sample: status
    static func status(of error: PipelineError) -> HTTPResponse.Status {
        switch error.code {
        case .circuitOpen, .limit(.concurrency), .limit(.rate), .timeout(.queue), .timeout(.pool): .serviceUnavailable
        case .timeout: .gatewayTimeout
        default: .badGateway
        }
    }
    // end
}

@Suite("The guide OnAServer, on three services", .watched)
struct ThreeServicesTests {
    private typealias Steps = [String: ScriptedTransport.Step]

    private static let steps: Steps = [
        "catalog.internal.example": .status(200, body: #"{"title": "Lamp"}"#),
        "prices.internal.example": .status(200, body: #"{"cents": 990}"#),
        "reviews.internal.example": .status(200, body: #"["bright"]"#),
    ]

    private func page(_ changes: Steps = [:], _ clock: ManualClock = ManualClock()) async throws -> ProductPage {
        let steps = Self.steps.merging(changes) { $1 }
        let transport = ScriptedTransport { request, _ in steps[request.host ?? ""] ?? .status(404) }
        let (plugins, _) = ThreeServicesSamples.provider(transport)
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [plugins],
            configuration: .init(clock: clock)
        )
        return try await clock.run { try await ProductPages(provider: provider).page(7, within: .seconds(3)) }
    }

    private let plugins = PluginStack.standard(.resilient)

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
        #expect(page.title == "Lamp" && page.reviews == nil)
        #expect(clock.now.offset == .milliseconds(1_500))
    }
    // end

    @Test("A page has what the three services return")
    func complete() async throws {
        let page = try await page()
        #expect(page.title == "Lamp" && page.cents == 990 && page.reviews == ["bright"])
    }

    @Test(
        "A failure of a required service has the status of a gateway",
        arguments: [
            (.status(404), .badGateway), (.failure(.connect(.refused)), .badGateway), (.hang, .gatewayTimeout),
            (.failure(.timeout(.pool)), .serviceUnavailable),
        ] as [(ScriptedTransport.Step, HTTPResponse.Status)]
    )
    func failures(step: ScriptedTransport.Step, status: HTTPResponse.Status) async throws {
        let error = await #expect(throws: PipelineError.self) {
            _ = try await page(["prices.internal.example": step])
        }
        #expect(error.map(ThreeServicesSamples.status) == status)
    }

    @Test("The stack has no findings")
    func order() {
        #expect(ThreeServicesSamples.provider(ScriptedTransport([])).1.explain().findings.isEmpty)
    }
}
