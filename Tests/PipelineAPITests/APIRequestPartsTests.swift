import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Paths of APIRequest", .watched)
struct APIRequestPartsTests {
    @Test(
        "An endpoint part that is empty, or contains a dot segment, is refused, and nothing is sent",
        arguments: [
            ["post", ""], ["post", "."], ["post", ".."], ["post", "%2E"], ["post", "/"], ["a", "./b"], ["a", "", "b"],
            ["a/../b"], ["a/./b"],
        ]
    )
    func refused(parts: [String]) async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>(parts).method(.delete)
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.code == .invalidRequest(.path) && bench.transport.sent.isEmpty)
    }

    @Test(
        "An empty endpoint, an empty first part and slashes within a part are valid",
        arguments: [
            ([], "/v1"), ([""], "/v1"), (["", "x"], "/v1/x"), (["a//b"], "/v1/a//b"), (["a/", "b"], "/v1/a/b"),
        ]
    )
    func sent(parts: [String], path: String) async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        _ = try await bench.api.send(APIRequest<IgnoredBody>(parts))
        #expect(bench.transport.sent.map(\.head.path) == [path])
    }

    @Test("C1 A request is created from parts or an array of parts, and serverURL sets its server")
    func initializers() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let server = ServerURL(base: "https://own.example.com", path: "v2")
        let requests = [
            APIRequest<IgnoredBody>("a", "b"), APIRequest(["a", "b"]), APIRequest("a", "b").serverURL(server),
            APIRequest(["a", "b"]).serverURL(server),
            APIRequest(["a", "b"], payload: PayloadTests.Signup()).serverURL(server).method(.post),
        ]
        for request in requests { _ = try await bench.api.send(request) }
        let (client, own) = ("https://api.example.com/v1/a/b", "https://own.example.com/v2/a/b")
        #expect(bench.transport.sent.compactMap(\.url?.absoluteString) == [client, client, own, own, own])
        #expect(bench.sentText.contains("Ann"))
    }

    @Test("An endpoint closure that replaces the task drops the query and credential, but not the path check")
    func replacedTask() async throws {
        let transport = ScriptedTransport(always: .ok)
        let provider = Provider<MultiTarget>(transport: transport) { Endpoint($0).replacing(task: .requestPlain) }
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com/v1"))
        let error = await pipelineError { _ = try await api.send(APIRequest<IgnoredBody>("users", "../admin")) }
        #expect(error?.code == .invalidRequest(.path) && transport.sent.isEmpty)
        _ = try await api.send(APIRequest<IgnoredBody>("users").query(["a": 1]).bearer("t"))
        #expect(transport.sent.map(\.head.path) == ["/v1/users"])
        #expect(transport.sent.map { $0.headers[.authorization] } == [nil])
    }
}
