import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("MultiTarget", .watched)
struct MultiTargetTests {
    struct User: Codable, Sendable, Equatable {
        let name: String
    }

    enum UserAPI: DecodableTargetType, AccessTokenAuthorizable {
        typealias ResultType = User
        case get(id: Int)

        var baseURL: URL { URL(filePath: "/") }
        var path: String { "users" }
        var method: HTTPMethod { .patch }
        var task: RequestTask { .requestData(Data("x".utf8)) }
        var headers: [String: String]? { ["X-A": "1"] }
        var validationType: ValidationType { .successCodes }
        var sampleData: Data { Data(#"{"name":"Ann"}"#.utf8) }
        var options: RequestOptions { .init { $0[SampleOption.self] = "target" } }
        var authorizationType: AuthorizationType? { .custom("Token") }
    }

    final class ClassTarget: TargetType {
        let baseURL: URL
        let path = "class"
        let method = HTTPMethod.get
        let task = RequestTask.requestPlain

        init(_ baseURL: URL) { self.baseURL = baseURL }
    }

    /// Records the context of each call.
    final class Witness: Stage.Prepare {
        let contexts = Mutex<[PipelineContext]>([])

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            contexts.withLock { $0.append(context) }
        }

        var targets: [any TargetType] { contexts.withLock { $0.map(\.target) } }
        var options: [String] { contexts.withLock { $0.map { $0.options[SampleOption.self] } } }
    }

    let witness = Witness()

    /// Sends to a fixed origin, because `UserAPI` does not have one.
    func provider(_ transport: some Transport) -> Provider<MultiTarget> {
        Provider(transport: transport, plugins: [witness]) { target in
            var endpoint = Endpoint(target)
            endpoint.url = "https://example.com/" + target.path
            return endpoint
        }
    }

    @Test("M9 A MultiTarget forwards everything from its target")
    func forwarding() {
        let inner = UserAPI.get(id: 1)
        for target in [MultiTarget(inner), .target(inner), MultiTarget(MultiTarget(inner))] {
            #expect(target.target is UserAPI)
            #expect(target.baseURL == inner.baseURL)
            #expect(target.path == inner.path)
            #expect(target.method == inner.method)
            #expect(target.headers == inner.headers)
            #expect(target.validationType == inner.validationType)
            #expect(target.sampleData == inner.sampleData)
            #expect(target.options[SampleOption.self] == "target")
            #expect(target.authorizationType == .custom("Token"))
        }
    }

    private struct Login: TargetType {
        let baseURL: URL
        let path = "login"
        let method = HTTPMethod.post
        let task = RequestTask.requestPlain
        let headers: [String: String]? = ["X-Key": "0123456789"]
    }

    @Test("M05 The description of a MultiTarget has the type and case of its target, not its fields and values")
    func description() throws {
        let login = MultiTarget(Login(baseURL: URL(filePath: "/")))
        let url = MultiTarget(URLTarget("https://a.test/?token=0123456789"))
        let user = MultiTarget(UserAPI.get(id: 4711))
        #expect("\(login)" == "Login")
        #expect("\(user)" == "UserAPI.get")
        #expect("\(url)" == "\(URLTarget("https://a.test/?token=0123456789"))")
        for target in [login, url, user] {
            var dumped = ""
            dump(target, to: &dumped)
            for text in ["\(target)", String(reflecting: target), dumped] {
                #expect(!text.contains("0123456789") && !text.contains("4711"), "\(text)")
            }
        }
    }

    @Test("M10 B-M21 A target without authorization has none in a MultiTarget, however deeply it is wrapped")
    func noAuthorization() throws {
        let target = MultiTarget(MultiTarget(MultiTarget(try SampleTarget())))
        #expect(target.authorizationType == nil)
        #expect(target.target is SampleTarget)
    }

    @Test("M11 Plugins see the innermost target, never a MultiTarget")
    func innermostTarget() async throws {
        let provider = provider(StubTransport())
        _ = try await provider.request(UserAPI.get(id: 1))
        _ = try await provider.request(MultiTarget(MultiTarget(UserAPI.get(id: 2))))
        _ = try await provider.request(SampleTarget())
        #expect(witness.targets.map { "\(type(of: $0))" } == ["UserAPI", "UserAPI", "SampleTarget"])
        #expect((witness.targets.first as? any AccessTokenAuthorizable)?.authorizationType == .custom("Token"))
    }

    @Test("A target's options reach plugins through a MultiTarget, and those of a call override them")
    func options() async throws {
        let provider = provider(StubTransport())
        _ = try await provider.request(UserAPI.get(id: 1))
        _ = try await provider.request(
            MultiTarget(UserAPI.get(id: 1)),
            options: .init { $0[SampleOption.self] = "call" }
        )
        _ = try await provider.request(SampleTarget())
        #expect(witness.options == ["target", "call", "default"])
    }

    @Test("A target's validation applies through a MultiTarget")
    func validation() async throws {
        let provider = provider(ScriptedTransport([.status(404), .status(404)]))
        let error = await #expect(throws: PipelineError.self) { try await provider.request(UserAPI.get(id: 1)) }
        #expect(error?.code == .unacceptableStatus)
        #expect(try await provider.request(SampleTarget()).statusCode == 404)
    }
}
