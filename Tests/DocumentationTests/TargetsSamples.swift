import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Targets.
enum TargetsSamples {
    // sample: target
    enum Shop: TargetType {
        case item(id: Int)
        case search(text: String)
        case order(Order)

        var baseURL: URL { Endpoint.url("https://api.shop.example/v1") }
        var path: String {
            switch self {
            case .item(let id): "items/\(id)"
            case .search: "items"
            case .order: "orders"
            }
        }
        var method: HTTPMethod {
            switch self {
            case .item, .search: .get
            case .order: .post
            }
        }
        var task: RequestTask {
            switch self {
            case .item: .requestPlain
            case .search(let text): .requestQuery(["q": text])
            case .order(let order): .requestJSONEncodable(order)
            }
        }
    }
    // end

    struct Order: Codable {
        let item: Int
    }

    struct Item: Decodable {
        let title: String
    }

    static func call() async throws -> String {
        // sample: call
        let provider = Provider<Shop>(transport: URLSessionTransport(), plugins: [LoggingPlugin(level: .info)])
        let item = try await provider.request(.item(id: 7), as: Item.self)
        // end
        return item.title
    }

    // sample: decodable
    struct ItemOfTheDay: DecodableTargetType {
        typealias ResultType = Item
        let day: String
        var baseURL: URL { Endpoint.url("https://api.shop.example/v1") }
        var path: String { "items/of/\(day)" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var headers: [String: String]? { ["Accept-Language": "en"] }
        var refusal: PipelineError? { day.isEmpty ? PipelineError(.invalidRequest(.path), "the day is empty") : nil }
    }
    // end

    static func several(_ order: Order) async throws -> [String] {
        // sample: several
        let provider = Provider<MultiTarget>(transport: URLSessionTransport())
        let today = try await provider.requestDecoded(ItemOfTheDay(day: "monday"))
        let found = try await provider.request(Shop.search(text: "lamp"), as: [Item].self)
        // end
        return [today.title] + found.map(\.title)
    }

    // sample: wrapper
    struct ShopClient {
        let provider: Provider<Shop>

        func load<Value: Decodable & SendableMetatype>(_ target: Shop) async throws -> Value {
            try await provider.request(target, as: Value.self)
        }
    }
    // end

    static func urls(_ order: Order) async throws {
        // sample: urls
        let client = Provider<URLTarget>(transport: URLSessionTransport(), plugins: [LoggingPlugin(level: .info)])
        let items = try await client.get("https://api.shop.example/v1/items", as: [Item].self)
        try await client.send(order, to: "https://api.shop.example/v1/orders")

        var target = URLTarget("https://api.shop.example/v1/orders/7", method: .delete)
        target.authorizationType = .bearer
        try await client.send(target)
        // end
        print(items.count)
    }

    static func coders() -> (ProviderConfiguration.Coders, Provider<Shop>) {
        // sample: coders
        var coders = ProviderConfiguration.Coders(
            configureJSONDecoder: { $0.keyDecodingStrategy = .convertFromSnakeCase },
            configureJSONEncoder: { $0.keyEncodingStrategy = .convertToSnakeCase }
        )
        coders.form = URLFormEncoder(keyEncoding: .convertToSnakeCase)  // queries and forms
        coders.dateDecodingStrategy = .secondsSince1970
        let provider = Provider<Shop>(transport: URLSessionTransport(), configuration: .init(coders: coders))
        // end
        return (coders, provider)
    }

    static func endpoint() -> Provider<Shop> {
        // sample: endpoint
        let provider = Provider<Shop>(transport: URLSessionTransport()) { target in
            let endpoint = Endpoint(target)
            return endpoint.replacing(task: endpoint.task.adding(parameters: ["locale": "de"]))
        }
        // end
        return provider
    }
}

@Suite("The guide Targets", .watched)
struct TargetsGuideTests {
    private typealias ItemOfTheDay = TargetsSamples.ItemOfTheDay

    private let transport = ScriptedTransport(always: .status(200, body: #"{"title": "Lamp"}"#))

    @Test("A target sends its path and header fields")
    func fields() async throws {
        let provider = Provider<ItemOfTheDay>(transport: transport)
        #expect(try await provider.requestDecoded(ItemOfTheDay(day: "monday")).title == "Lamp")
        let sent = try #require(transport.sent.first)
        #expect(sent.url?.absoluteString == "https://api.shop.example/v1/items/of/monday")
        #expect(sent.headers[.acceptLanguage] == "en")
    }

    @Test("A generic wrapper decodes the type that its caller expects")
    func wrapper() async throws {
        let client = TargetsSamples.ShopClient(provider: Provider(transport: transport))
        let item: TargetsSamples.Item = try await client.load(.item(id: 7))
        #expect(item.title == "Lamp")
    }

    @Test("A target with a refusal is not sent")
    func refusal() async {
        let provider = Provider<ItemOfTheDay>(transport: transport)
        let error = await #expect(throws: PipelineError.self) {
            try await provider.requestDecoded(ItemOfTheDay(day: ""))
        }
        #expect(error?.code == .invalidRequest(.path))
        #expect(error?.reason == "the day is empty")
        #expect(transport.sent.isEmpty)
    }

    @Test("The coders change the keys in queries and in JSON, and decode dates in seconds")
    func coders() async throws {
        struct Search: Encodable { let sortBy: String }
        struct Dated: Decodable { let createdAt: Date }
        let transport = ScriptedTransport(always: .status(200, body: #"{"created_at": 1000000000}"#))
        let (coders, _) = TargetsSamples.coders()
        let client = Provider<URLTarget>(transport: transport, configuration: .init(coders: coders))
        let target = URLTarget("https://api.shop.example/v1/items", task: .requestQuery(Search(sortBy: "age")))
        let dated = try await client.request(target, as: Dated.self)
        #expect(dated.createdAt == Date(timeIntervalSince1970: 1_000_000_000))
        #expect(transport.sent.first?.query == "sort_by=age")
    }

    @Test("Dates are ISO 8601, with coders and without")
    func dates() async throws {
        let date = Date(timeIntervalSinceReferenceDate: 0)
        for coders in [ProviderConfiguration.Coders(), nil] {
            let client = Provider<URLTarget>(transport: transport, configuration: .init(coders: coders))
            try await client.send([date], to: "https://api.shop.example/v1/dates")
            #expect(transport.sent.last?.body.bytes == Data(#"["2001-01-01T00:00:00Z"]"#.utf8))
        }
    }

    @Test("The endpoint closure adds a parameter to the query")
    func endpoint() throws {
        let request = try TargetsSamples.endpoint().endpoint(.search(text: "lamp")).makeRequest()
        #expect(request.query == "q=lamp&locale=de")
    }
}
