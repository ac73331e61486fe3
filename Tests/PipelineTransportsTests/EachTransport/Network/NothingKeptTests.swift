import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("What network transports keep between calls", .tags(.concurrent), .realTime, .watched)
struct NothingKeptTests {
    /// Responses that a browser would remember.
    private static let responses: [(status: Int, fields: [(String, String)])] = [
        (200, [("Set-Cookie", "a=1; Path=/; Max-Age=600"), ("Cache-Control", "max-age=600"), ("ETag", "\"v\"")]),
        (301, [("Location", "/other"), ("Cache-Control", "max-age=600"), ("Set-Cookie", "b=1")]),
        (401, [("WWW-Authenticate", "Basic realm=\"r\""), ("Set-Cookie", "c=1")]),
        (407, [("Proxy-Authenticate", "Basic realm=\"r\"")]),
    ]

    @Test("No cookie, no response, no credential and no redirect is kept", arguments: NetworkTransport.allCases)
    func nothing(transport: NetworkTransport) async throws {
        let server = try LoopbackServer { request in
            guard let index = Int(request.target.dropFirst()) else { return [.respond(500)] }
            return [.respond(Self.responses[index].status, headers: Self.responses[index].fields, body: "body")]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make(), configuration: .init(redirects: .never))
        for (index, expected) in Self.responses.enumerated() {
            for credential in ["Basic YTpi", nil, nil] {
                var target = Probe(server, "/\(index)")
                target.headers = credential.map { ["Authorization": $0] }
                #expect(try await provider.request(target).statusCode == expected.status)
            }
        }
        let requests = server.requests
        #expect(requests.map(\.target) == Self.responses.indices.flatMap { Array(repeating: "/\($0)", count: 3) })
        for name in ["Cookie", "If-None-Match", "If-Modified-Since", "Proxy-Authorization"] {
            #expect(requests.allSatisfy { $0.values(of: name).isEmpty })
        }
        let credentials = requests.map { $0.values(of: "Authorization") }
        #expect(credentials == Self.responses.flatMap { _ in [["Basic YTpi"], [], []] })
    }
}
