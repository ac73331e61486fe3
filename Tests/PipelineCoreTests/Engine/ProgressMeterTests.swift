import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCore

@Suite("ProgressMeter", .watched)
struct ProgressMeterTests {
    @Test("Progress that a transport reports after the last step is ignored")
    func late() throws {
        let journal = Journal()
        let meter = ProgressMeter { journal.add("\($0.sent.byteCount)") }
        let now = PipelineClock(ManualClock()).now
        meter.beginExchange(bodyByteCount: 10, isUpload: true)
        meter.sent(4, at: now)
        let request = try PipelineRequest(url: "https://example.com")
        let last = meter.end(with: PipelineResponse(request: request, statusCode: 200))
        meter.sent(10, at: now)
        #expect(journal.entries == ["4"])
        #expect(last.progress == 1 && last.sent.byteCount == 4)
    }
}
