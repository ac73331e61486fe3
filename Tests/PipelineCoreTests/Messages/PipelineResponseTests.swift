import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("PipelineResponse", .watched)
struct PipelineResponseTests {
    @Test("M132 A response's description has the status and length, but no header values or body")
    func description() throws {
        var response = try makeResponse(201, "CANARY")
        response.headers[.setCookie] = "CANARY"
        response.request = try PipelineRequest(url: "https://h/p?CANARY", headers: [.cookie: "CANARY"])
        var dumped = ""
        dump(response, to: &dumped)
        for text in [response.description, String(reflecting: response), "\(response)", dumped] {
            #expect(text.contains("201"))
            #expect(text.contains("6 bytes"))
            #expect(!text.contains("CANARY"))
        }
    }
}
