import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("JSONEncoding, dates", .watched)
struct DateTextEncodingTests {
    struct DateCase: Sendable {
        let encoding: DateCodingStrategy.TextEncoding
        let seconds: Double
        let text: String
    }

    @Test(
        "A date is written in the format of its encoding",
        arguments: [
            DateCase(encoding: .iso8601, seconds: 0, text: "1970-01-01T00:00:00Z"),
            DateCase(encoding: .iso8601, seconds: 1_000_000_000.75, text: "2001-09-09T01:46:40Z"),
            DateCase(encoding: .secondsSince1970, seconds: 1_000_000_000, text: "1000000000"),
            DateCase(encoding: .secondsSince1970, seconds: 1.5, text: "1.5"),
            DateCase(encoding: .secondsSince1970, seconds: -1, text: "-1"),
            DateCase(encoding: .millisecondsSince1970, seconds: 1.2345, text: "1235"),
            DateCase(encoding: .millisecondsSince1970, seconds: 1_700_000_000, text: "1700000000000"),
            DateCase(encoding: .custom { _ in "some day" }, seconds: 0, text: "some day"),
        ]
    )
    func dates(_ row: DateCase) throws {
        let date = Date(timeIntervalSince1970: row.seconds)
        #expect(
            try JSONEncodingTests.body(["at": date], JSONEncoding(dateEncoding: row.encoding))
                == #"{"at":"\#(row.text)"}"#
        )
    }
}
