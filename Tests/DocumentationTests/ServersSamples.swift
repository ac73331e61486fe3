import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Targets for several servers.
enum ServersSamples {
    typealias Shop = TargetsSamples.Shop

    enum Weather: TargetType {
        case today

        var baseURL: URL { Endpoint.url("https://weather.example") }
        var path: String { "today" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    enum News: TargetType, AccessTokenAuthorizable {
        case top

        var baseURL: URL { Endpoint.url("https://news.example") }
        var path: String { "top" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var authorizationType: AuthorizationType? { .bearer }
    }

    static func servers(_ transport: any Transport) -> (String) -> Provider<Shop> {
        // sample: servers
        func makeProvider(server: String) -> Provider<Shop> {
            Provider(transport: transport, plugins: [.standard]) { target in
                var endpoint = Endpoint(target)
                endpoint.url = endpoint.url.replacing("https://api.shop.example", with: server, maxReplacements: 1)
                return endpoint
            }
        }
        // end
        return makeProvider
    }

    // sample: stored server
    struct Health: TargetType {
        let baseURL: URL
        var path: String { "health" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }
    // end

    static func apis(
        _ transport: any Transport,
        weatherKey: String,
        shopToken: @escaping @Sendable () async throws -> String,
        newsToken: @escaping @Sendable () async throws -> String
    ) -> Provider<MultiTarget> {
        // sample: apis
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [
                .standard {
                    HeadersPlugin { $0 is Weather ? ["X-API-Key": weatherKey] : nil }
                    AccessTokenPlugin { target in
                        switch target {
                        case is Shop: try await shopToken()
                        case is News: try await newsToken()
                        default: nil
                        }
                    }
                }
            ]
        )
        // end
        return provider
    }
}

extension TargetsSamples.Shop: AccessTokenAuthorizable {
    var authorizationType: AuthorizationType? { .bearer }
}

@Suite("The guide Targets, on several servers", .watched)
struct ServersGuideTests {
    private let transport = ScriptedTransport(always: .status(200))

    @Test("The endpoint closure sends a target to another server")
    func server() async throws {
        let provider = ServersSamples.servers(transport)("http://127.0.0.1:8080")
        _ = try await provider.request(.item(id: 7))
        #expect(transport.sent.map { $0.url?.absoluteString } == ["http://127.0.0.1:8080/v1/items/7"])
        #expect(try provider.endpoint(.order(TargetsSamples.Order(item: 1))).url == "http://127.0.0.1:8080/v1/orders")
    }

    @Test("Each API has its own credentials")
    func credentials() async throws {
        let provider = ServersSamples.apis(
            transport,
            weatherKey: "key",
            shopToken: { "shop" },
            newsToken: { "news" }
        )
        _ = try await provider.request(ServersSamples.Weather.today)
        _ = try await provider.request(ServersSamples.Shop.item(id: 7))
        _ = try await provider.request(ServersSamples.News.top)
        #expect(transport.sent.map { $0.header("X-API-Key") } == ["key", nil, nil])
        #expect(transport.sent.map { $0.headers[.authorization] } == [nil, "Bearer shop", "Bearer news"])
    }

    @Test("A target may store its server")
    func storedServer() async throws {
        let server = Endpoint.url("https://staging.shop.example")
        _ = try await Provider(transport: transport).request(ServersSamples.Health(baseURL: server))
        #expect(transport.sent.map { $0.url?.absoluteString } == ["https://staging.shop.example/health"])
    }
}
