import Foundation
import HTTPTypes
import Pipeline
import PipelineAPI
import PipelinePlugins
import PipelineTesting
import PipelineTransports
import Testing

@Suite("The samples of the guide TestingAPIs")
struct TestingSamples {
    @Test("A stub responds with the sample of a request")
    func samples() async throws {
        // sample: stub
        let api = APIClient(Provider(transport: StubTransport()), server: ServerURL(base: "https://api.example.com"))
        let login = API.auth.login(email: "ann@example.com", password: "secret")
        #expect(try await api.send(login.sampleData(Data(#"{"token": "t"}"#.utf8))).token == "t")
        // end
    }

    @Test("A script responds in order, in virtual time")
    func script() async throws {
        // sample: script
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(200, body: #"{"token": "t"}"#), .failure(.offline)])
        let retry = RetryPlugin(maximumAttempts: 2, backoff: .constant(.seconds(2)))
        let provider = Provider<MultiTarget>(transport: transport, plugins: [retry], configuration: .init(clock: clock))
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        let login = API.auth.login(email: "ann@example.com", password: "secret").options {
            $0.idempotencyKey = .generated
        }

        async let session = api.send(login)
        #expect(await clock.advanceToNextSleeper() == .seconds(2))
        #expect(try await session.token == "t")
        #expect(transport.sent.map(\.path) == ["/auth/login", "/auth/login"])
        // end
    }

    @Test("A closure responds to each type of request")
    func types() async throws {
        // sample: types
        let provider = Provider<MultiTarget>(transport: StubTransport()) { target in
            var endpoint = Endpoint(target)
            switch target.target {
            case is APIRequest<AuthController.Session>:
                endpoint.sampleResponse = { .networkResponse(200, Data(#"{"token": "t"}"#.utf8)) }
            case is APIRequest<[PostController.Post]>:
                endpoint.sampleResponse = { .networkResponse(200, Data("[]".utf8)) }
            default:
                endpoint.sampleResponse = { .networkResponse(404, Data()) }
            }
            return endpoint
        }
        // end
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        #expect(try await api.send(API.auth.login(email: "ann@example.com", password: "secret")).token == "t")
        #expect(try await api.send(API.posts.list(offset: 0, limit: 1)).isEmpty)
        let error = await pipelineError { _ = try await api.send(API.posts.delete(id: 7)) }
        #expect(error?.response?.statusCode == 404)
    }
}
