import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PipelineRequest", .watched)
struct PipelineRequestTests {
    @Test("A request's description has only the method, scheme, host and path")
    func requestDescription() throws {
        var request = try PipelineErrorTests.secretRequest()
        var dumped = ""
        dump(request, to: &dumped)
        #expect(request.description == "POST https://example.com/path")
        #expect(String(reflecting: request) == request.description)
        #expect(!dumped.contains("CANARY"))
        request.head.authority = "user:CANARY@example.com:8080"
        #expect(request.description == "POST https://example.com:8080/path")
        #expect(request.host == "example.com:8080")
        request.head.authority = nil
        #expect(request.host == nil)
    }

    @Test("setHeader refuses an invalid value without showing it, and sets nothing")
    func setHeader() throws {
        var request = try PipelineRequest(url: "https://h/")
        for value in ["CANARY\r\nX: y", "CANARY\n", "\u{0}CANARY", " CANARY", "CANARY\t"] {
            let error = #expect(throws: PipelineError.self) {
                try request.setHeader(value, for: .authorization, isSecret: true)
            }
            #expect(error?.code == .invalidRequest(.headerValue))
            #expect(error?.description.contains("CANARY") == false)
            #expect(error?.reason.contains("Authorization") == true)
        }
        #expect(request.headers.isEmpty)
        #expect(request.secretFields.isEmpty)
    }
}
