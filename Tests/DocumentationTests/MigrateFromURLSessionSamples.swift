import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The samples of the guide MigrateFromURLSession.
enum MigrateFromURLSessionSamples {
    struct Order: Encodable { let item: Int }
    struct Receipt: Decodable { let id: Int }

    static func transport() -> URLSessionTransport {
        // sample: transport
        let configuration = URLSessionTransport.makeDefaultConfiguration()  // or that of your app
        let transport = URLSessionTransport(configuration: configuration)
        // end
        return transport
    }

    static func client(_ transport: any Transport, _ token: String) -> Provider<URLTarget> {
        // sample: client
        let client = Provider<URLTarget>(
            transport: transport,
            plugins: [.standard { AccessTokenPlugin { _ in token } }]
        )
        // end
        return client
    }

    static func send(_ client: Provider<URLTarget>, _ order: Order) async throws -> Receipt {
        // sample: call
        var target = URLTarget("https://api.shop.example/v1/orders", method: .post)
        target.task = .requestJSONEncodable(order)
        target.authorizationType = .bearer
        target.options.attemptTimeout = .seconds(20)
        let receipt = try await client.request(target, as: Receipt.self)
        // end
        return receipt
    }

    static func callback(
        _ client: Provider<URLTarget>,
        _ target: URLTarget,
        show: @escaping @Sendable (String) -> Void
    ) {
        // sample: callback
        let task = client.request(target, callbackExecutor: .queue(.main)) { result in
            switch result {
            case .success(let response): show("\(response.statusCode), \(response.data.count) bytes")
            case .failure(let error): show(error.localizedDescription)
            }
        }
        // end
        _ = task
    }
}

@Suite("The samples of the guide MigrateFromURLSession", .watched)
struct MigrateFromURLSessionSamplesTests {
    @Test("The call sends JSON and the token, and decodes the response")
    func call() async throws {
        let transport = ScriptedTransport([.status(201, body: #"{"id": 8}"#)])
        let client = MigrateFromURLSessionSamples.client(transport, "t")
        #expect(try await MigrateFromURLSessionSamples.send(client, .init(item: 7)).id == 8)
        #expect(transport.sent.first?.method == .post)
        #expect(transport.sent.first?.headers[.authorization] == "Bearer t")
        #expect(transport.sent.first?.headers[.contentType] == "application/json")
        #expect(transport.sent.first?.body.bytes == Data(#"{"item":7}"#.utf8))
    }

    @Test("The callback gets the response")
    func callback() async {
        let client = Provider<URLTarget>(transport: ScriptedTransport([.status(200, body: "abc")]))
        let text = await withCheckedContinuation { continuation in
            MigrateFromURLSessionSamples.callback(client, URLTarget("https://api.shop.example/v1")) {
                continuation.resume(returning: $0)
            }
        }
        #expect(text == "200, 3 bytes")
    }

    @Test("The default configuration has no stores, and that of Foundation has")
    func stores() {
        let own = URLSessionTransport.makeDefaultConfiguration()
        #expect(own.httpCookieStorage == nil && own.urlCache == nil && own.urlCredentialStorage == nil)
        let shared = URLSessionConfiguration.default
        #expect(shared.httpCookieStorage != nil && shared.urlCache != nil)
        _ = MigrateFromURLSessionSamples.transport()
    }
}
