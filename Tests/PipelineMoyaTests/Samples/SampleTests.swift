import Foundation
import PipelineMoya
import PipelineTesting
import TestSupport
import Testing

@Suite(.watched) struct MoyaSampleTests {
    @Test("A view model on the main actor is updated on the main actor")
    @MainActor
    func viewModel() async {
        let transport = ScriptedTransport([.status(200, body: #"{"first_name": "Ada"}"#)])
        let model = UserViewModel(provider: MoyaProvider(transport: transport))
        await withCheckedContinuation { continuation in
            model.onUpdate = { continuation.resume() }
            model.load()
        }
        #expect(model.name == "Ada")
        #expect(model.status == 200)
    }

    @Test("A network layer with endpoint and request closures sends and decodes")
    func networking() async throws {
        struct User: Decodable, Equatable { let login: String }
        let transport = ScriptedTransport([.status(200, body: #"{"login": "ada"}"#)])
        let networking = Networking(
            MoyaProvider<GitHub>(
                endpointClosure: Networking<GitHub>.endpointClosure("shop"),
                requestClosure: Networking<GitHub>.requestClosure(),
                transport: transport,
                plugins: [EnvelopePlugin()]
            )
        )
        let user: User = try await withCheckedThrowingContinuation { continuation in
            networking.load(.userProfile("ada"), as: User.self) { continuation.resume(with: $0) }
        }
        #expect(user == User(login: "ada"))
        #expect(transport.sent.first?.header("X-App") == "shop")
    }

    @Test("A plugin with mutable state sees the beginning and the error")
    func alertPlugin() async {
        let plugin = RequestAlertPlugin()
        let provider = MoyaProvider<GitHub>(
            transport: ScriptedTransport([.status(503)]),
            plugins: [plugin, EnvelopePlugin()]
        )
        let result = await provider.result(of: .userRepositories("ada"))
        guard case .failure(.statusCode(let response)) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(response.statusCode == 503)
        #expect(plugin.alerts == ["https://api.github.com/users/ada/repos?sort=pushed"])
    }

    @Test("A native target and an old one are sent through the same native plugins, from a file with one import")
    func moving() async throws {
        let user = #"{"name": "Ada"}"#
        let transport = ScriptedTransport([.status(200, body: user), .status(503), .status(200, body: user)])
        let model = AccountModel(transport: transport)
        let account = try await withCheckedThrowingContinuation { continuation in
            model.account { continuation.resume(with: $0) }
        }
        #expect(try await model.profile(7) == account)
        #expect(transport.sent.map { $0.header("X-App") } == ["shop", "shop", "shop"])
        #expect(transport.sent.map { $0.header("X-Session") } == ["s1", nil, nil])
        #expect(transport.sent.last?.url?.path == "/profiles/7")
    }

    @Test("A provider in a global constant responds with its samples")
    func globalProvider() async throws {
        let response = try await gitHubProvider.request(.search(query: "swift", page: nil))
        #expect(try response.mapString() == #"{"items": []}"#)
        #expect(response.request?.url?.query == "q=swift")
    }
}
