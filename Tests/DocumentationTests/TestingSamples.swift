import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("The samples of the guide TestingAPIs", .watched)
struct TestingSamples {
    private typealias GitHub = GettingStartedSamples.GitHub
    private typealias Repository = GettingStartedSamples.Repository
    private typealias Library = DecideSamples.Library
    private typealias Loan = DecideSamples.Loan
    private typealias NewLoan = DecideSamples.NewLoan

    @Test("A stub responds with the sample data of a target")
    func samples() async throws {
        // sample: stub
        let provider = Provider<GitHub>(transport: StubTransport())
        let repository = try await provider.request(.repository("swiftlang/swift"), as: Repository.self)
        #expect(repository.forks == 3)
        // end
    }

    @Test("A stub responds with the sample data of a request")
    func requestSamples() async throws {
        // sample: request stub
        let api = APIClient(Provider(transport: StubTransport()), server: ServerURL(base: "https://api.example.com"))
        let login = API.auth.login(email: "ann@example.com", password: "secret")
        #expect(try await api.send(login.sampleData(Data(#"{"token": "t"}"#.utf8))).token == "t")
        // end
    }

    @Test("A test checks the parts of the request that was sent")
    func sent() async throws {
        // sample: sent
        let transport = ScriptedTransport([.status(201, body: #"{"id": 8}"#)])
        let provider = Provider<Library>(transport: transport)
        #expect(try await provider.request(.borrow(NewLoan(book: 3)), as: Loan.self).id == 8)

        let request = try #require(transport.sent.first)
        #expect(request.method == .post)
        #expect(request.url?.absoluteString == "https://library.example/v1/loans")
        #expect(request.headers[.contentType] == "application/json")
        #expect(request.body.bytes == Data(#"{"book":3}"#.utf8))
        // end
    }

    @Test("A test gets the request of a target without sending it")
    func made() throws {
        // sample: made
        let request = try Endpoint(Library.borrow(NewLoan(book: 3))).makeRequest()
        #expect(request.path == "/v1/loans")
        // end
    }

    @Test("After the last response of a script, a request fails")
    func end() async throws {
        let provider = Provider<GitHub>(transport: ScriptedTransport([]))
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(.repository("swiftlang/swift"))
        }
        #expect(error?.code == .transport)
    }

    @Test("A retry waits on the clock that the test advances")
    func script() async throws {
        // sample: script
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(200, body: #"{"forks": 7}"#)])
        let stack = PluginStack.standard(.retries(RetryPlugin(backoff: .constant(.seconds(2)))))
        let provider = Provider<GitHub>(transport: transport, plugins: [stack], configuration: .init(clock: clock))

        let repository = try await clock.run {
            try await provider.request(.repository("swiftlang/swift"), as: Repository.self)
        }
        #expect(repository.forks == 7 && transport.sent.count == 2)
        #expect(clock.now.offset == .seconds(2))
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
            default:
                endpoint.sampleResponse = { .networkResponse(404, Data()) }
            }
            return endpoint
        }
        // end
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        #expect(try await api.send(API.auth.login(email: "ann@example.com", password: "secret")).token == "t")
        let error = await pipelineError { _ = try await api.send(API.posts.delete(id: 7)) }
        #expect(error?.response?.statusCode == 404)
    }

    @Test("A stub can fail with the code of the error that the closure returns")
    func failure() async {
        let provider = Provider<GitHub>(transport: StubTransport()) { target in
            var endpoint = Endpoint(target)
            endpoint.sampleResponse = { .networkError(PipelineError(.offline, "no network")) }
            return endpoint
        }
        let error = await pipelineError { _ = try await provider.request(.repository("swiftlang/swift")) }
        #expect(error?.code == .offline)
    }

    @Test("A call with an option that no plugin handles fails")
    func options() async {
        // sample: options
        let configuration = ProviderConfiguration(unhandledOptions: .fail)
        let provider = Provider<GitHub>(transport: StubTransport(), configuration: configuration)
        let options = RequestOptions { $0.totalTimeout = .seconds(5) }
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(.repository("swiftlang/swift"), as: Repository.self, options: options)
        }
        #expect(error?.code == .invalidRequest(.option))
        // end
    }
}
