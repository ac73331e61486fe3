import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

@Suite("CredentialsPlugin, redirects of authenticated requests", .watched)
struct CredentialsRedirectTests {
    private let plugin = CredentialsPlugin { _ in .init(username: "Mufasa", password: "Circle of Life") }

    @Test("A06 Each hop has its own Authorization, computed for its URL")
    func answeredAnew() async throws {
        let server = DigestServer()
        let transport = ScriptedTransport { request, _ in
            let (status, fields) = server.answer(request)
            let isShort = status == 200 && request.path == "/b"
            return isShort ? .status(302, headers: [.location: "/b/"]) : .status(status, headers: fields)
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        for _ in 0..<2 { #expect(try await provider.request(Ask()).statusCode == 200) }
        #expect(transport.sent.map(\.path) == ["/b", "/b", "/b/", "/b", "/b/"])
        #expect(server.seen.nonces == ["n1": [1, 2, 3, 4]])
        #expect(server.seen.repeated.isEmpty)
    }

    @Test("A server that keeps redirecting and challenging gets one authenticated request per allowed hop")
    func bounded() async throws {
        let fields: HTTPFields = [.wwwAuthenticate: "Basic realm=r"]
        let transport = ScriptedTransport { request, index in
            guard request.headers.contains(.authorization) else { return .status(401, headers: fields) }
            return .status(302, headers: [.location: "/\(index)/"])
        }
        let redirects = RedirectPolicy(maximumHopCount: 2)
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [plugin],
            configuration: .init(redirects: redirects)
        )
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask(path: "/a/b")) }
        #expect(error?.response?.statusCode == 302)
        #expect(transport.sent.map(\.path) == ["/a/b", "/a/b", "/1/", "/1/", "/3/", "/3/"])
    }
}
