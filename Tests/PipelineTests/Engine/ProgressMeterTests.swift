import Foundation
import PipelineTesting
import Testing

@testable import Pipeline

@Suite("ProgressMeter")
struct ProgressMeterTests {
    @Test("What a transport reports after the last step is no step")
    func late() throws {
        let journal = Journal()
        let meter = ProgressMeter { journal.add("\($0.sent.byteCount)") }
        meter.beginExchange(bodyByteCount: 10)
        meter.sent(4, isProgress: true)
        let request = try PipelineRequest(url: "https://example.com")
        let last = meter.end(with: PipelineResponse(request: request, statusCode: 200))
        meter.sent(10, isProgress: true)
        #expect(journal.entries == ["4"])
        #expect(last.progress == 1 && last.sent.byteCount == 4)
    }
}
