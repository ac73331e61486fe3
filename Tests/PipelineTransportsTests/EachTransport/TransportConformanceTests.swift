import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Transport conformance", .tags(.concurrent), .realTime, .watched)
struct TransportConformanceTests {
    @Test("a network transport passes the conformance suite", arguments: NetworkTransport.allCases)
    func network(transport: NetworkTransport) async {
        let violations = await TransportConformance { transport.make() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test("StubTransport passes the conformance suite")
    func stub() async {
        let violations = await TransportConformance(.sampled) { StubTransport() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test("StubTransport passes the conformance suite when it wraps a network transport")
    func stubAroundNetwork() async {
        let violations = await TransportConformance {
            StubTransport(.never, wrapping: URLSessionTransport())
        }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}
