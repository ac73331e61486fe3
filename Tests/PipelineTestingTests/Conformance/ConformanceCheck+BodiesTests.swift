import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("TransportConformance: bodies", .tags(.concurrent), .watched)
struct ConformanceCheckBodiesTests {
    @Test("a transport that loses bytes does not pass")
    func lostBytes() async {
        let checks = await TransportConformanceTests.checks { response in
            response.body = .bytes(response.data.dropLast())
        }
        #expect(checks.contains("the bytes of a response arrive as they are"))
        #expect(checks.contains("a streamed body is complete"))
        #expect(checks.contains("a body that goes to a file arrives whole"))
        #expect(checks.contains("50 calls at once each get their own response"))
    }

    @Test("a transport that decodes but keeps Content-Encoding does not pass")
    func unsaidDecoding() async {
        let checks = await TransportConformanceTests.checks { response in
            if response.headers.contains(.contentEncoding) { response.body = .bytes(Data("hello gzip".utf8)) }
        }
        #expect(checks == ["a decoded body is not said to be coded"])
    }
}
