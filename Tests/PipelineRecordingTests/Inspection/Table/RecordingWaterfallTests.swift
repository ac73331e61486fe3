import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("The waterfall of a recording", .watched)
struct RecordingWaterfallTests {
    @Test("A bar starts when the request was sent and is divided where the header fields arrived")
    func bars() {
        let second = Sample.exchange(after: 0.1) {
            $0.headDelay = .milliseconds(50)
            $0.duration = .milliseconds(100)
        }
        let lines = RecordingWaterfall(Sample.entries(Sample.exchange(), second)).lines(width: 24)
        #expect(
            lines == [
                "   0           200.0 ms",
                "0  ░░████████",
                "1            ░░░░░█████",
            ]
        )
    }

    @Test("An entry of no duration is still visible, and no line is wider than the terminal")
    func instants() {
        let instant = Sample.exchange(after: 10) {
            $0.headDelay = .zero
            $0.duration = .zero
        }
        let lines = RecordingWaterfall(Sample.entries(instant, Sample.exchange())).lines(width: 40)
        #expect(lines.count == 3)
        #expect(lines.allSatisfy { $0.count <= 40 })
        #expect(lines[1].hasSuffix("█"))
        #expect(RecordingWaterfall(Sample.entries(instant)).lines(width: 40).last == "0  █")
    }

    @Test("Entries without a start time and unreadable entries have no bar")
    func missing() {
        let undated = Sample.exchange { $0.start = nil }
        #expect(RecordingWaterfall(Sample.entries(undated) + [Sample.unreadable(1)]).lines() == [])
        let lines = RecordingWaterfall(Sample.entries(undated, Sample.exchange())).lines(width: 20)
        #expect(lines.last?.hasPrefix("1  ") == true)
        #expect(lines.count == 2)
    }

    @Test("Impossible times still produce a waterfall")
    func nonsense() {
        let odd = Sample.exchange(after: 1e15) {
            $0.headDelay = .seconds(-5)
            $0.duration = .seconds(Int64.max / 2)
        }
        #expect(RecordingWaterfall(Sample.entries(odd, Sample.exchange())).lines(width: 40).count == 3)
    }
}
