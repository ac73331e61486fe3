import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Testing

@Suite("CredentialsPlugin, redirects of answered requests")
struct CredentialsRedirectTests {
    private let plugin = CredentialsPlugin { _, _ in .init(username: "Mufasa", password: "Circle of Life") }

    @Test("A06 Where a redirect has led to a request that the answer does not cover, it is answered without asking")
    func answeredAnew() async throws {
        let server = DigestServer()
        let transport = ScriptedTransport { request, _ in
            let (status, fields) = server.answer(request)
            let isShort = status == 200 && request.path == "/b"
            return isShort ? .status(302, headers: [.location: "/b/"]) : .status(status, headers: fields)
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        for _ in 0..<2 { #expect(try await provider.request(Ask()).statusCode == 200) }
        #expect(transport.sent.map(\.path) == ["/b", "/b", "/b/", "/b/", "/b", "/b/", "/b/"])
        #expect(server.seen.repeated.isEmpty)
    }

    @Test("A server that redirects and asks again and again gets one more answer")
    func bounded() async throws {
        let fields: HTTPFields = [.wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth"]
        let transport = ScriptedTransport { request, index in
            index % 2 == 1 ? .status(302, headers: [.location: "/\(index)"]) : .status(401, headers: fields)
        }
        let response = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask())
        #expect(response.statusCode == 401)
        #expect(transport.sent.map(\.path) == ["/b", "/b", "/1", "/1", "/3"])
    }
}
