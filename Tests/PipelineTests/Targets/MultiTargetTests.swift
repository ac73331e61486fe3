import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import PipelineTransports
import Synchronization
import Testing

@Suite("MultiTarget")
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

    /// Keeps what it sees of each call.
    final class Witness: Stage.Prepare {
        let contexts = Mutex<[PipelineContext]>([])

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            contexts.withLock { $0.append(context) }
        }

        var targets: [any TargetType] { contexts.withLock { $0.map(\.target) } }
        var options: [String] { contexts.withLock { $0.map { $0.options[SampleOption.self] } } }
    }

    let witness = Witness()

    /// Sends to a fixed origin, since `UserAPI` names none.
    func provider(_ transport: some Transport) -> Provider<MultiTarget> {
        Provider(transport: transport, plugins: [witness]) { target in
            var endpoint = Endpoint(target)
            endpoint.url = "https://example.com/" + target.path
            return endpoint
        }
    }

    @Test("M9 A MultiTarget has all that its target has")
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

    @Test("M10 B-M21 A target that asks for no token gets none through a MultiTarget, however often it is wrapped")
    func noAuthorization() throws {
        let target = MultiTarget(MultiTarget(MultiTarget.target(try SampleTarget())))
        #expect(target.authorizationType == nil)
        #expect(target.target is SampleTarget)
    }

    @Test("M3 M12 A Provider<MultiTarget> takes enums, structs and classes directly, or wrapped")
    func anyTarget() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = provider(transport)
        let base = try #require(URL(string: "https://example.com"))
        _ = try await provider.request(UserAPI.get(id: 1))
        _ = try await provider.request(SampleTarget { $0.path = "struct" })
        _ = try await provider.request(ClassTarget(base))
        _ = try await provider.request(MultiTarget(UserAPI.get(id: 1)))
        _ = try await provider.request(.target(SampleTarget { $0.path = "wrapped" }))
        _ = try await provider.stream(UserAPI.get(id: 1))
        #expect(transport.sent.map(\.path) == ["/users", "/struct", "/class", "/users", "/wrapped", "/users"])
        #expect(transport.sent.first?.method == .patch)
        #expect(transport.sent.first?.body.bytes == Data("x".utf8))
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

    @Test("Options of a target reach plugins through a MultiTarget, and those of a call win")
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

    @Test("A target's validation holds through a MultiTarget")
    func validation() async throws {
        let provider = provider(ScriptedTransport([.status(404), .status(404)]))
        let error = await #expect(throws: PipelineError.self) { try await provider.request(UserAPI.get(id: 1)) }
        #expect(error?.code == .unacceptableStatus)
        #expect(try await provider.request(SampleTarget()).statusCode == 404)
    }

    @Test("A call with a completion takes any target")
    func callback() async throws {
        let provider = provider(StubTransport())
        let result = await withCheckedContinuation { continuation in
            provider.request(UserAPI.get(id: 1)) { continuation.resume(returning: $0) }
        }
        #expect(try result.get().statusCode == 200)
    }

    @Test("requestDecoded returns the type that the target names")
    func decoded() async throws {
        let user = try await provider(StubTransport()).requestDecoded(UserAPI.get(id: 1))
        #expect(user == User(name: "Ann"))
        let single = Provider<UserAPI>(transport: StubTransport()) { _ in Endpoint(url: "https://example.com") }
        #expect(try await single.requestDecoded(.get(id: 1)) == User(name: "Ann"))
    }

    @Test("requestDecoded with a completion gives the type that the target names")
    func decodedCallback() async throws {
        let provider = provider(StubTransport())
        let result = await withCheckedContinuation { continuation in
            provider.requestDecoded(UserAPI.get(id: 1)) { continuation.resume(returning: $0) }
        }
        #expect(try result.get() == User(name: "Ann"))
        let single = Provider<UserAPI>(transport: StubTransport()) { _ in Endpoint(url: "https://example.com") }
        let other = await withCheckedContinuation { continuation in
            single.requestDecoded(.get(id: 1)) { continuation.resume(returning: $0) }
        }
        #expect(try other.get() == User(name: "Ann"))
    }

    @Test("requestDecoded uses the decoder that it is given")
    func decoder() async throws {
        struct Upper: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue.lowercased() }
            init?(intValue: Int) { nil }
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { Upper(stringValue: $0.last?.stringValue ?? "") }
        let provider = provider(ScriptedTransport([.status(200, body: #"{"NAME":"Bob"}"#)]))
        #expect(try await provider.requestDecoded(UserAPI.get(id: 1), decoder: decoder) == User(name: "Bob"))
    }

    @Test(
        "requestDecoded fails with a typed error and the response, async and with a completion",
        arguments: ["", "<html>", "[]"]
    )
    func undecodable(_ body: String) async throws {
        let provider = provider(
            ScriptedTransport([.status(200, body: body), .status(200, body: body), .status(200, body: #"{"name":""}"#)])
        )
        let thrown = await #expect(throws: PipelineError.self) { try await provider.requestDecoded(UserAPI.get(id: 1)) }
        #expect(thrown?.code == .mapping(.object))
        #expect(thrown?.response?.data == Data(body.utf8))
        let result = await withCheckedContinuation { continuation in
            provider.requestDecoded(UserAPI.get(id: 1)) { continuation.resume(returning: $0) }
        }
        let given = #expect(throws: PipelineError.self) { try result.get() }
        #expect(given?.code == .mapping(.object))
        #expect(given?.response?.statusCode == 200)
        #expect(try await provider.requestDecoded(UserAPI.get(id: 1)) == User(name: ""))
    }

    @Test("A value at a key path is decoded for any target")
    func keyPath() async throws {
        let provider = provider(ScriptedTransport([.status(200, body: #"{"data":[{"name":"Cy"}]}"#)]))
        #expect(try await provider.request(SampleTarget(), as: User.self, atKeyPath: "data.0") == User(name: "Cy"))
    }
}
