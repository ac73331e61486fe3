import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Targets with a refusal", .watched)
struct TargetRefusalTests {
    private struct User: TargetType {
        let id: String
        let baseURL = URL(filePath: "/")
        var path: String { "users/\(id)" }
        let method = HTTPMethod.get
        let task = RequestTask.requestPlain
        var refusal: PipelineError? {
            id.isEmpty ? PipelineError(.invalidRequest(.path), "the user has no identifier") : nil
        }
    }

    @Test("A target's refusal fails the call before sending, also in a MultiTarget and with an endpoint closure")
    func refused() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let outcomes = Outcomes()
        let provider = Provider<MultiTarget>(transport: transport, plugins: [outcomes]) { target in
            var endpoint = Endpoint(target).replacing(task: .requestData(Data()))
            endpoint.url = "https://example.com/users"
            return endpoint
        }
        for target in [MultiTarget(User(id: "")), MultiTarget(MultiTarget(User(id: "")))] {
            let error = await pipelineError { _ = try await provider.request(target) }
            #expect(error?.code == .invalidRequest(.path) && error?.reason == "the user has no identifier")
        }
        #expect(transport.sent.isEmpty && outcomes.texts == Array(repeating: "failure invalidRequest.path", count: 2))
        _ = try await provider.request(User(id: "7"))
        #expect(transport.sent.count == 1)
    }
}
