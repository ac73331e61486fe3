import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("ServerURL", .watched)
struct ServerURLTests {
    @Test(
        "The error for an invalid server base shows its host, but no credentials, path or query",
        arguments: [
            ("https://api example.com", #"the base of the server is not a URL: its host is "api example.com""#),
            (
                "https://ann:hun@ter2@api example.com/key?hunter2",
                #"the base of the server is not a URL: its host is "api example.com""#
            ),
            ("localhost:8080", Self.missingScheme("localhost:8080")),
            ("api.example.com/hunter2", Self.missingScheme("api.example.com")),
            ("ann:hunter2@localhost:8080", Self.missingScheme("localhost:8080")),
            ("", Self.missingScheme("")),
            ("ftp://example.com", #"the URL does not begin with http:// or https://: "ftp://example.com/…""#),
        ]
    )
    func servers(base: String, reason: String) async throws {
        let bench = APIBench(ScriptedTransport(always: .ok), server: base)
        let error = await pipelineError { _ = try await bench.api.send(APIRequest<IgnoredBody>("x")) }
        #expect(error?.code.isKind(of: .invalidRequest) == true && error?.reason == reason)
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("A provider also reports a missing or invalid server")
    func serversOfProvider() async throws {
        let transport = ScriptedTransport(always: .ok)
        let provider = Provider<MultiTarget>(transport: transport)
        let request = APIRequest<IgnoredBody>("x")
        for (request, reason) in [
            (request, "neither the request nor a client names a server"),
            (
                request.serverURL(ServerURL(base: "https://api example.com")),
                #"the base of the server is not a URL: its host is "api example.com""#
            ),
        ] {
            let error = await pipelineError { _ = try await provider.requestDecoded(request) }
            #expect(error?.code == .invalidRequest(.url) && error?.reason == reason)
        }
        let other = Provider<MultiTarget>(transport: transport, endpoint: { _ in Endpoint(url: "no URL") })
        let error = await pipelineError { _ = try await other.requestDecoded(request) }
        #expect(error?.reason == #"the URL is not absolute: it has no scheme: "no URL""#)
        #expect(transport.sent.isEmpty)
    }

    private static func missingScheme(_ host: String) -> String {
        "the base \"\(host)\" of the server has no scheme: write https:// or http:// before it"
    }

    @Test("A server can have a non-ASCII host, a path that needs escaping or an IPv6 address")
    func unusualServers() async throws {
        for base in ["https://b\u{fc}cher.example", "http://127.0.0.1:8080/a b", "https://[::1]:8080"] {
            let bench = APIBench(ScriptedTransport(always: .ok), server: base)
            _ = try await bench.api.send(APIRequest<IgnoredBody>("x"))
            #expect(bench.transport.sent.count == 1)
        }
    }
}
