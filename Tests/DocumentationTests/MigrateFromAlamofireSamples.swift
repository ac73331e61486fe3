import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide MigrateFromAlamofire.
enum MigrateFromAlamofireSamples {
    struct Search: Encodable { let q: String, page: Int }
    struct SearchResult: Decodable { let count: Int }
    struct Star: Encodable { let repository: String }

    actor Session {
        var token: String?
        init(token: String?) { self.token = token }
    }

    static func client(_ transport: any Transport, _ session: Session) -> Provider<URLTarget> {
        // sample: client
        let client = Provider<URLTarget>(
            transport: transport,
            plugins: [
                .standard {
                    HeadersPlugin(["X-App": "shop/3.1"])
                    AccessTokenPlugin { _ in await session.token }
                }
            ]
        )
        // end
        return client
    }

    static func calls(_ client: Provider<URLTarget>) async throws -> Int {
        // sample: calls
        let url = "https://api.shop.example/v1/items"
        let search = URLTarget(url, task: .requestQuery(Search(q: "lamp", page: 1)))
        let found = try await client.request(search, as: SearchResult.self)

        var star = URLTarget("https://api.shop.example/v1/stars", method: .put)
        star.task = .requestJSONEncodable(Star(repository: "lamp"))
        star.authorizationType = .bearer  // sends the token
        try await client.send(star)
        // end
        return found.count
    }

    static func describe(_ client: Provider<URLTarget>, _ search: URLTarget) async -> String {
        // sample: errors
        do {
            return try await client.request(search).filterSuccessfulStatusCodes().mapString()
        } catch let error as PipelineError where error.code == .unacceptableStatus {
            return "status \(error.statusCode ?? 0)"  // AFError.responseValidationFailed
        } catch {
            return error.localizedDescription
        }
        // end
    }
}

@Suite("The samples of the guide MigrateFromAlamofire", .watched)
struct MigrateFromAlamofireSamplesTests {
    private let search = URLTarget("https://api.shop.example/v1/items")

    @Test("The calls send the query, the body, the header field and the token")
    func calls() async throws {
        let transport = ScriptedTransport([.status(200, body: #"{"count": 2}"#), .status(204)])
        let client = MigrateFromAlamofireSamples.client(transport, .init(token: "t"))
        #expect(try await MigrateFromAlamofireSamples.calls(client) == 2)
        #expect(transport.sent.map { $0.url?.query() } == ["q=lamp&page=1", nil])
        #expect(transport.sent.map { $0.header("X-App") } == ["shop/3.1", "shop/3.1"])
        #expect(transport.sent.map { $0.headers[.authorization] } == [nil, "Bearer t"])
        #expect(transport.sent.last?.body.bytes == Data(#"{"repository":"lamp"}"#.utf8))
        #expect(client.explain().findings.isEmpty)
    }

    @Test("A rejected status and a failure of the network have different texts")
    func errors() async {
        let transport = ScriptedTransport([.status(404), .failure(.tls(.certificate))])
        let client = Provider<URLTarget>(transport: transport)
        #expect(await MigrateFromAlamofireSamples.describe(client, search) == "status 404")
        #expect(await MigrateFromAlamofireSamples.describe(client, search).contains("secure"))
    }
}
