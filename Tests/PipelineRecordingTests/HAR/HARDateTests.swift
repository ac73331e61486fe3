import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("HARDate", .watched)
struct HARDateTests {
    @Test(
        "ISO 8601 dates are read in any time zone and with any number of decimals",
        arguments: [
            ("2026-11-21T02:12:26.119Z", 1_795_227_146.119), ("2026-11-21T02:12:26.119735+00:00", 1_795_227_146.119735),
            ("2026-11-20T19:12:26-07:00", 1_795_227_146), ("2026-11-21T07:42:26+0530", 1_795_227_146),
            ("2026-11-21T02:12:26", 1_795_227_146), ("1969-12-31T23:59:59.5Z", -0.5),
            ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("2026-11-21", nil), ("", nil), ("2026-13-01T00:00:00Z", nil), ("2026-11-21T24:00:00Z", nil),
            ("2026-11-21T02:12:26ZZ", nil), ("2026-11-21T02:12:26.Z", nil), ("Sun, 06 Nov 1994 08:49:37 GMT", nil),
        ] as [(String, Double?)]
    )
    func dates(text: String, seconds: Double?) throws {
        let date = HAREntry(json: .object(["startedDateTime": .string(text)])).startedDate
        #expect((date == nil) == (seconds == nil))
        if let date, let seconds { #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000001) }
    }
}
