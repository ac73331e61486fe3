import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("APIRequest: credentials", .tags(.concurrent), .watched)
struct APIRequestAuthorizationTests {
    @Test("C14 B-C20 basicAuth sends name and password as given, in NFC, and replaces an earlier field and token")
    func basicAuth() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("login").addHeaders(["Authorization": "x"]).bearer("t")
        _ = try await bench.api.send(request.basicAuth(username: "Ann@Example.com", password: "s3:cret"))
        let field = try #require(bench.transport.sent.first?.headers[values: .authorization])
        #expect(field == ["Basic " + Data("Ann@Example.com:s3:cret".utf8).base64EncodedString()])
        _ = try await bench.api.send(request.basicAuth(username: "a", password: "e\u{301}"))
        #expect(bench.transport.sent.last?.headers[.authorization] == "Basic YTrDqQ==")
    }

    @Test("bearer sends the token in a secret Authorization field")
    func bearer() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x").bearer("abc"))
        #expect(bench.transport.sent.first?.headers[.authorization] == "Bearer abc")
        #expect(bench.transport.sent.first?.secretFields == [.authorization])
    }

    @Test(
        "A credential that cannot be sent is refused and not shown, and nothing is sent",
        arguments: [
            APIRequest<IgnoredBody>("x").basicAuth(username: "a:hunter2", password: "p"),
            APIRequest<IgnoredBody>("x").basicAuth(username: "a", password: "hunter2\n"),
            APIRequest<IgnoredBody>("x").basicAuth(username: "hunter2\u{7f}", password: "p"),
            APIRequest<IgnoredBody>("x").bearer("hunter2,x"), APIRequest<IgnoredBody>("x").bearer("hunter2\""),
            APIRequest<IgnoredBody>("x").bearer("hunter2 x"), APIRequest<IgnoredBody>("x").bearer(""),
            APIRequest<IgnoredBody>("x").bearer("hunter2").serverURL(ServerURL(base: "http://example.com")),
        ]
    )
    func refusedCredential(request: APIRequest<IgnoredBody>) async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.code == .invalidRequest(.credential))
        #expect(!"\(String(describing: error))\(request)".contains("hunter2"))
        #expect(bench.transport.sent.isEmpty)
        _ = try await bench.api.send(APIRequest<IgnoredBody>("next"))
        #expect(bench.paths == ["next"])
    }

    @Test("A credential is sent over http to loopback addresses, and elsewhere if that is allowed")
    func cleartext() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("x")
        _ = try await bench.api.send(request.bearer("t").serverURL(ServerURL(base: "http://127.0.0.1:8080")))
        let other = ServerURL(base: "http://example.com", cleartext: .allowed)
        _ = try await bench.api.send(request.bearer("t").serverURL(other))
        #expect(bench.transport.sent.map { $0.headers[.authorization] } == ["Bearer t", "Bearer t"])
        let refused = request.bearer("t").serverURL(ServerURL(base: "http://example.com"))
        let error = await pipelineError { _ = try Endpoint(refused).makeRequest() }
        #expect(error?.code == .invalidRequest(.credential))
    }

    @Test("A plugin cannot send a request's credential over http, but can replace it")
    func ledAstray() async throws {
        let mirror: PluginStack = .prepare { request, _ in
            request.head.scheme = "http"
            request.head.authority = "mirror.example.com"
        }
        let own: PluginStack = .prepare { request, _ in request.headers[.authorization] = "Own x" }
        let request = APIRequest<IgnoredBody>("x").basicAuth(username: "a", password: "hunter2")
        let led = APIBench(ScriptedTransport(always: .ok), plugins: [mirror])
        let error = await pipelineError { _ = try await led.api.send(request) }
        #expect(error?.code == .invalidRequest(.credential) && led.transport.sent.isEmpty)
        #expect(!"\(String(describing: error))".contains("hunter2"))
        let more: PluginStack = .prepare { request, _ in
            request.headers.append(HTTPField(name: .authorization, value: "Own x"))
        }
        let longer: PluginStack = .prepare { request, _ in request.headers[.authorization]?.append(", Own x") }
        for added in [more, longer] {
            let bench = APIBench(ScriptedTransport(always: .ok), plugins: [mirror, added])
            #expect(await pipelineError { _ = try await bench.api.send(request) }?.code == .invalidRequest(.credential))
        }
        let replaced = APIBench(ScriptedTransport(always: .ok), plugins: [mirror, own])
        _ = try await replaced.api.send(request)
        #expect(replaced.transport.sent.map { $0.headers[.authorization] } == ["Own x"])
    }

    @Test("A redirect to another origin drops the request's credential")
    func redirectedCredential() async throws {
        let bench = APIBench(.status(302, headers: [.location: "https://other.example.com/x"]), .ok)
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x").bearer("t"))
        #expect(bench.transport.sent.map { $0.headers[.authorization] } == ["Bearer t", nil])
    }
}
