import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// What the defaults put on the wire, so that a change of defaults is noticed.
@Suite("Defaults on the wire", .tags(.concurrent), .realTime, .watched)
struct WireDefaultsTests {
    /// Larger than the smallest body that `GzipPlugin` would compress.
    private static let json = ["text": String(repeating: "a", count: 2_000)]

    /// The header fields in order of their names; values that differ in each run are replaced by `*`.
    private static func fields(of request: LoopbackServer.Request) -> [String] {
        let changing = ["accept-language", "host", "user-agent", "x-request-id"]
        return request.headerLines.map { line in
            let name = line.prefix { $0 != ":" }.lowercased()
            return changing.contains(name) ? "\(name): *" : name + line.dropFirst(name.count)
        }.sorted()
    }

    /// The fields of a transport itself.
    private static func fields(of transport: NetworkTransport) -> [String] {
        switch transport {
        #if canImport(FoundationNetworking)
        case .urlSession:
            [
                "accept: */*", "accept-encoding: identity", "accept-language: *", "connection: keep-alive",
                "user-agent: *",
            ]
        #else
        case .urlSession:
            [
                "accept: */*", "accept-encoding: gzip, deflate", "accept-language: *", "connection: keep-alive",
                "user-agent: *",
            ]
        #endif
        #if AsyncHTTPClient
        case .asyncHTTPClient: []
        #endif
        }
    }

    @Test(
        "A1: a GET and a POST with JSON have these header fields, and the body is not compressed",
        arguments: NetworkTransport.allCases,
        DefaultStack.allCases
    )
    func fields(transport: NetworkTransport, stack: DefaultStack) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let network = transport.make()
        let provider = Provider<Probe>(transport: network, plugins: stack.plugins)
        _ = try await provider.request(Probe(server))
        _ = try await provider.request(Probe(server, method: .post, task: .requestJSONEncodable(Self.json)))
        var expected = Self.fields(of: transport) + ["host: *"]
        if stack != .bare {
            expected.append("x-request-id: *")
            if !network.decodesContent { expected.append("accept-encoding: \(GzipTraitsTests.accepted)") }
        }
        let (get, post) = (server.requests[0], server.requests[1])
        #expect(Self.fields(of: get) == expected.sorted())
        let body = ["content-type: application/json", "content-length: \(post.body.count)"]
        #expect(Self.fields(of: post) == (expected + body).sorted())
        #expect(try JSONDecoder().decode([String: String].self, from: post.body) == Self.json)
    }
}
