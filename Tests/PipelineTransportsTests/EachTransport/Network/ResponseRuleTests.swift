import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// Rules that apply to a message on every transport.
@Suite("Rules of both transports", .tags(.concurrent), .realTime, .watched)
struct ResponseRuleTests {
    @Test(
        "R05 A redirect with two Location fields is not followed on any transport, and the exchange records why",
        arguments: NetworkTransport.allCases,
        [["/a", "/b"], ["/a", "/a"], ["b", "c"]]
    )
    func twoLocations(transport: NetworkTransport, locations: [String]) async throws {
        let server = try LoopbackServer { request in
            request.target == "/"
                ? [.respond(302, headers: locations.map { ("Location", $0) })] : [.respond(200)]
        }
        let response = try await Provider<Probe>(transport: transport.make()).request(Probe(server))
        #expect(response.statusCode == 302)
        #expect(response.exchanges.last?.refusedRedirect == .location)
        #expect(server.requests.map(\.target) == ["/"])
    }

    #if os(Linux)
    @Test(
        "A file of length 0 with content, as under /proc, is sent in full, alone and in a form",
        arguments: NetworkTransport.allCases
    )
    func systemFile(transport: NetworkTransport) async throws {
        let file = URL(filePath: "/proc/version")
        let content = try Data(contentsOf: file)
        try #require(!content.isEmpty)
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = Provider<Probe>(transport: transport.make())
        _ = try await provider.request(Probe(server, method: .post, task: .uploadFile(file)))
        #expect(server.requests.last?.body == content)
        let form: MultipartFormData = [MultipartFormBodyPart(.file(file), name: "f")]
        _ = try await provider.request(Probe(server, method: .post, task: .uploadMultipartFormData(form)))
        #expect(server.requests.last?.body.range(of: content) != nil)
    }
    #endif
}
