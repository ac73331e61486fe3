import Foundation
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("RecordingShape", .watched)
struct RecordingShapeTests {
    private func findings(_ text: String, folder: URL? = nil) throws -> [String] {
        RecordingCheck.findings(in: try JSONParser.parse(text.utf8), folder: folder).map(\.description)
    }

    @Test(
        "A malformed member is reported with the index of its entry",
        arguments: [
            (#""version":"1.2","#, "", "format: log.version is missing"),
            (
                #"{"name":"x","version":"1"}"#, #"{"name":"x","version":1}"#,
                "format: log.creator.version is not a string"
            ),
            (
                #""id":"p1","#, #""id":"p1","onLoad":1,"#,
                "format: log.pages[0].onLoad is not a member of HAR 1.2 and does not begin with _"
            ),
            (#""time":12.5,"#, #""time":"12.5","#, "format: entry 1, entry.time is not a number"),
            (#""time":12.5,"#, #""time":null,"#, "format: entry 1, entry.time is not a number"),
            (#""method":"POST","#, "", "format: entry 1, request.method is missing"),
            (#""bodySize":10}"#, #""bodySize":10.5}"#, "format: entry 1, response.bodySize is not an integer"),
            (
                #""name":"Accept","value":"*/*""#, #""name":"Accept""#,
                "format: entry 1, request.headers[0].value is missing"
            ),
            (#"[{"name":"k","value":"v"}]"#, "[7]", "format: entry 1, response.cookies[0] is not an object"),
            (
                #""cache":{},"timings":{"send":0,"wait":1,"receive":2}"#, #""cache":{}"#,
                "format: entry 0, entry.timings is missing"
            ),
            (
                #""timings":{"send":0,"wait":1"#, #""timings":{"send":0,"wait":"1""#,
                "format: entry 0, timings.wait is not a number"
            ),
        ]
    )
    func shape(part: String, fault: String, finding: String) throws {
        let text = RecordingCheckTests.good.replacing("\n", with: "").replacing(part, with: fault, maxReplacements: 1)
        #expect(text != RecordingCheckTests.good.replacing("\n", with: ""))
        #expect(try findings(text).contains(finding))
    }
}
