import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("URLSessionTransport: response header fields", .tags(.concurrent), .realTime, .watched)
struct URLSessionResponseHeadTests {
    @Test("response fields are sorted by name")
    func sortedFields() async throws {
        let server = try LoopbackServer { _ in
            [.respond(200, headers: [("X-C", "3"), ("x-b", "2"), ("X-A", "1"), ("X-B", "4")])]
        }
        let headers = try await URLSessionTransportTests.makeProvider().request(Probe(server)).headers
        let fields = headers.filter { $0.name.canonicalName.hasPrefix("x-") }.map {
            "\($0.name.canonicalName)=\($0.value)"
        }
        #expect(fields.first == "x-a=1" && fields.last == "x-c=3", "\(fields)")
        #expect(Set(fields.dropFirst().dropLast()).isSubset(of: ["x-b=2", "x-b=4", "x-b=2, 4", "x-b=4, 2"]))
    }
}
