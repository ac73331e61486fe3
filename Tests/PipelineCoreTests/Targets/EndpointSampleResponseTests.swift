import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("EndpointSampleResponse", .watched)
struct EndpointSampleResponseTests {
    @Test("M80 A stub returns the endpoint's sample: bytes, a response, or a failure")
    func sampleResponses() async throws {
        func provider(_ sample: EndpointSampleResponse) -> Provider<SampleTarget> {
            Provider(transport: StubTransport()) { Endpoint(url: Endpoint($0).url, sampleResponse: { sample }) }
        }
        let plain = try await provider(.networkResponse(418, Data("tea".utf8))).request(SampleTarget())
        #expect(plain.statusCode == 418)
        #expect(try plain.mapString() == "tea")

        let head = HTTPResponse(status: .created, headerFields: [.location: "/1"])
        #expect(try await provider(.response(head, Data())).request(SampleTarget()).headers[.location] == "/1")

        let error = await #expect(throws: PipelineError.self) {
            try await provider(.networkError(URLError(.timedOut))).request(SampleTarget())
        }
        #expect(error?.code.isKind(of: .timeout) == true)
    }
}
