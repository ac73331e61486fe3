import Foundation
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Checking messages", .watched)
struct RecordingCheckMessagesTests {
    private func findings(_ text: String, folder: URL? = nil) throws -> [String] {
        RecordingCheck.findings(in: try JSONParser.parse(text.utf8), folder: folder).map(\.description)
    }

    @Test(
        "Contradictory values are reported with the index of their entry",
        arguments: [
            (#""pageref":"p1""#, #""pageref":"p2""#, "contradiction: entry 1, entry.pageref is not the id of a page"),
            (
                "2026-11-21T10:00:00.500+01:00", "2026-11-21T10:00:00.500",
                "contradiction: entry 1, entry.startedDateTime is not an ISO 8601 date with a time zone"
            ),
            (
                #""time":12.5"#, #""time":14"#,
                "contradiction: entry 1, entry.time is 14.0, but the timings add up to 12.5"
            ),
            (#""receive":6"#, #""receive":-6"#, "contradiction: entry 1, timings.receive is negative"),
            ("http://h.example/a?", "/a?", "contradiction: entry 1, request.url is not absolute"),
            ("q=a%20b&n", "q=a%20b&n#top", "contradiction: entry 1, request.url has a fragment"),
            ("q=a%20b&n", "q=a%20c&n", "contradiction: entry 1, request.queryString differs from the query of the URL"),
            (
                #""text":"grün""#, #""text":"grue""#,
                "contradiction: entry 1, request.bodySize is 5, and the body has 4 bytes"
            ),
            (
                #""postData":{"mimeType":"text/plain","text":"grün"},"#, "",
                "contradiction: entry 1, request.postData is missing, but bodySize is 5"
            ),
            (#","text":"grün""#, "", "contradiction: entry 1, request.postData has neither text nor params"),
            (
                #""status":204"#, #""status":0"#,
                "contradiction: entry 0, response.status is 0, and no _error explains why"
            ),
            (
                #"{"name":"Set-Cookie","value":"k=v"},"#, "",
                "contradiction: entry 1, response.cookies lists 1, but the Set-Cookie fields contain 0"
            ),
            (
                #""redirectURL":"/b""#, #""redirectURL":"""#,
                "contradiction: entry 1, response.redirectURL differs from the Location field"
            ),
            (
                #""size":3,"#, #""size":4,"#,
                "contradiction: entry 1, response.content.size is 4, and the body has 3 bytes"
            ),
            ("-7", "7", "contradiction: entry 1, response.content.compression is 7, not size - bodySize"),
            ("AAEC", "A!EC", "contradiction: entry 1, response.content.text is not base64"),
            (
                #""encoding":"base64""#, #""encoding":"rot13""#,
                "contradiction: entry 1, response.content.encoding is rot13, which is unknown"
            ),
        ]
    )
    func meaning(part: String, fault: String, finding: String) throws {
        let text = RecordingCheckTests.good.replacing("\n", with: "").replacing(part, with: fault, maxReplacements: 1)
        #expect(text != RecordingCheckTests.good.replacing("\n", with: ""))
        #expect(try findings(text).contains(finding))
    }

    @Test(
        "Cookies joined in one Set-Cookie field by commas or lines are accepted; wrong counts are reported",
        arguments: [
            (#"k=v, l=w; Path=/"#, 2, true), (#"k=v; Expires=Wed, 21 Oct 2026 07:28:00 GMT,l=w"#, 2, true),
            (#"k=v\nl=w\nm=x"#, 3, true), (#"k=v, l=w"#, 1, true), (#"k=v, l=w"#, 3, false), (#"k=v"#, 2, false),
            (#"k=v; Expires=Wed, 21 Oct 2026 07:28:00 GMT"#, 2, false),
        ]
    )
    func joinedCookies(field: String, count: Int, isGood: Bool) throws {
        let cookies = Array(repeating: #"{"name":"k","value":"v"}"#, count: count).joined(separator: ",")
        let text = RecordingCheckTests.good.replacing(#""value":"k=v""#, with: #""value":"\#(field)""#)
            .replacing(#""cookies":[{"name":"k","value":"v"}]"#, with: #""cookies":[\#(cookies)]"#)
        #expect(try findings(text).isEmpty == isGood)
    }

    @Test("An empty text next to parameters is accepted")
    func parameters() throws {
        let text = RecordingCheckTests.good.replacing(
            #""text":"grün""#,
            with: #""text":"","params":[{"name":"a","value":"b"}]"#
        )
        #expect(try findings(text) == [])
    }

    @Test("A size that counts the text in Latin-1 is accepted")
    func latin1() throws {
        #expect(try findings(RecordingCheckTests.good.replacing(#""bodySize":5}"#, with: #""bodySize":4}"#)) == [])
    }
}
