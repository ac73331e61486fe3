import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide MigrateFromCodyFire.
enum MigrateFromCodyFireSamples {
    // sample: controller
    enum TaskController: EndpointController {
        static let endpoint = "task"

        struct NewTask: JSONPayload { let title: String }
        struct Model: Decodable { let id: Int, title: String }

        static func create(_ task: NewTask) -> APIRequest<Model> {
            request(payload: task).desiredStatusCode(.created).authorized()
                .addCustomError(.conflict, "There is such a task already")
        }
    }
    // end

    static func client(_ transport: any Transport, _ token: String?) -> APIClient {
        // sample: client
        let plugins = PluginStack.standard(logging: .info) {
            HeadersPlugin(["X-App": "tasks/2.0"])  // fillHeaders
            AccessTokenPlugin { _ in token }
        }
        var api = APIClient(
            Provider(transport: transport, plugins: [plugins]),
            environments: APIEnvironments(
                dev: ServerURL(base: "http://127.0.0.1:8080"),
                testFlight: ServerURL(base: "https://stage.example.com", path: "v1"),
                appStore: ServerURL(base: "https://api.example.com", path: "v1")
            )
        )
        api.options.attemptTimeout = .seconds(15)  // responseTimeout
        // end
        return api
    }

    static func call(_ api: APIClient, show: @escaping @Sendable (String) -> Void) {
        // sample: call
        api.call(TaskController.create(.init(title: "Tea")))
            .onNotAuthorized { show("Please log in") }
            .onError { show($0.message) }
            .onSuccess { show("Created \($0.title)") }
            .execute()
        // end
    }

    static func awaited(_ api: APIClient) async throws -> TaskController.Model {
        // sample: await
        let task = try await api.send(TaskController.create(.init(title: "Tea")))
        // end
        return task
    }
}

@Suite("The samples of the guide MigrateFromCodyFire", .watched)
struct MigrateFromCodyFireSamplesTests {
    private typealias Samples = MigrateFromCodyFireSamples

    private func shown(_ steps: [ScriptedTransport.Step]) async throws -> (String, ScriptedTransport) {
        let transport = ScriptedTransport(steps)
        let api = Samples.client(transport, "t")
        try api.environments?.use(.testFlight)
        let text = await withCheckedContinuation { continuation in
            Samples.call(api) { continuation.resume(returning: $0) }
        }
        return (text, transport)
    }

    @Test("The call posts to the environment in use and shows the result")
    func call() async throws {
        let (text, transport) = try await shown([.status(201, body: #"{"id": 1, "title": "Tea"}"#)])
        #expect(text == "Created Tea")
        #expect(transport.sent.map { $0.url?.absoluteString } == ["https://stage.example.com/v1/task"])
        #expect(transport.sent.first?.method == .post)
        #expect(transport.sent.first?.headers[.authorization] == "Bearer t")
        #expect(transport.sent.first?.header("X-App") == "tasks/2.0")
    }

    @Test("A 401 has a handler of its own, a 409 its text, and a 200 is not accepted")
    func failures() async throws {
        #expect(try await shown([.status(401)]).0 == "Please log in")
        #expect(try await shown([.status(409)]).0 == "There is such a task already")
        let (text, _) = try await shown([.status(200, body: #"{"id": 1, "title": "Tea"}"#)])
        #expect(!text.hasPrefix("Created"))
    }

    @Test("The same request can be awaited")
    func awaited() async throws {
        let transport = ScriptedTransport([.status(201, body: #"{"id": 1, "title": "Tea"}"#)])
        let api = Samples.client(transport, nil)
        try api.environments?.use(.appStore)
        #expect(try await Samples.awaited(api).id == 1)
        #expect(transport.sent.first?.headers[.authorization] == nil)
    }
}
