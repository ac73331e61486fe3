import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTransports

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

        var validationType: ValidationType { .successCodes }
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

        var baseURL: URL { Endpoint.url("https://api.shop.example/v1") }
        var path: String { "items/today" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }
    // end

    static func several(_ order: Order) async throws -> [String] {
        // sample: several
        let provider = Provider<MultiTarget>(transport: URLSessionTransport())
        let today = try await provider.requestDecoded(ItemOfTheDay())
        let found = try await provider.request(Shop.search(text: "lamp"), as: [Item].self)
        // end
        return [today.title] + found.map(\.title)
    }

    static func urls(_ order: Order) async throws {
        // sample: urls
        let client = Provider<URLTarget>(transport: URLSessionTransport(), plugins: [LoggingPlugin(level: .info)])
        let items = try await client.get("https://api.shop.example/v1/items", as: [Item].self)
        try await client.send(order, to: "https://api.shop.example/v1/orders")

        var target = URLTarget("https://api.shop.example/v1/orders/7", method: .delete)
        target.authorizationType = .bearer
        let response = try await client.request(target)
        // end
        print(items.count, response.statusCode)
    }

    static func coders() -> Provider<Shop> {
        // sample: coders
        var coders = PipelineCoders(
            configureJSONDecoder: { $0.keyDecodingStrategy = .convertFromSnakeCase },
            configureJSONEncoder: { $0.keyEncodingStrategy = .convertToSnakeCase }
        )
        coders.form = URLFormEncoder(keyEncoding: .convertToSnakeCase)  // queries and forms
        coders.dateDecodingStrategy = .secondsSince1970
        let provider = Provider<Shop>(transport: URLSessionTransport(), configuration: .init(coders: coders))
        // end
        return provider
    }

    static func endpoint() -> Provider<Shop> {
        // sample: endpoint
        let provider = Provider<Shop>(transport: URLSessionTransport()) { target in
            Endpoint(target).adding(newHTTPHeaderFields: ["X-App": "shop"])
        }
        // end
        return provider
    }
}
