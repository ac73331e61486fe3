import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("F17 Responses whose content a browser left out", .watched)
struct MissingContentTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    private func write(_ response: String, method: String = "GET") throws {
        try bench.write(
            """
            {"log":{"version":"1.2","entries":[
            {"request":{"method":"GET","url":"https://api.example/first"},"response":{"status":200,"content":{"size":0}}},
            {"request":{"method":"\(method)","url":"https://api.example/"},"response":\(response)}]}}
            """
        )
    }

    @Test(
        "F17 An aborted request with a status and no content is a response",
        arguments: [
            #"{"status":204,"_error":"net::ERR_ABORTED"}"#,
            #"{"status":200,"content":{"size":0,"mimeType":"x-unknown"},"_error":"net::ERR_ABORTED"}"#,
            #"{"status":200,"content":{"size":0,"text":""},"_error":"net::ERR_BLOCKED_BY_RESPONSE"}"#,
            #"{"status":200,"content":{"size":-1},"_failureText":"net::ERR_ABORTED"}"#,
        ]
    )
    func aborted(response: String) async throws {
        try write(response)
        let answer = try await bench.provider(try ReplayTransport(bench.file)).request(bench.target())
        #expect((200...204).contains(answer.statusCode) && answer.data.isEmpty)
    }

    @Test("F17 The table of a file shows the size of content that the file does not contain")
    func shownSize() throws {
        try write(#"{"status":200,"content":{"size":2048,"mimeType":"text/plain"}}"#)
        let lines = try HARTool().table(of: bench.file, showsTimes: false)
        #expect(lines.contains { $0.contains("2.0 KiB") })
    }

    @Test(
        "F17 A response that was cut off stays a failure",
        arguments: [
            (#"{"status":200,"content":{"size":1,"text":"a"},"_error":"net::ERR_ABORTED"}"#, "connectionLost"),
            (#"{"status":200,"content":{},"_error":"net::ERR_CONNECTION_RESET"}"#, "connectionLost"),
            (#"{"status":200,"content":{},"_error":"net::ERR_INCOMPLETE_CHUNKED_ENCODING"}"#, "truncated"),
            (#"{"status":200,"_error":"x","_errorKind":"connectionLost"}"#, "connectionLost"),
            (#"{"status":0,"_error":"net::ERR_ABORTED"}"#, "connectionLost"),
        ]
    )
    func cutOff(response: String, code: String) async throws {
        try write(response)
        let provider = bench.provider(try ReplayTransport(bench.file))
        #expect(try await provider.failureCode(bench.target())?.rawValue == code)
    }

    @Test(
        "F17 A size without text is an error that names the entry, and har validate reports it",
        arguments: [
            #"{"status":200,"content":{"size":12,"mimeType":"image/png"}}"#,
            #"{"status":404,"content":{"size":12,"text":null}}"#,
            #"{"status":200,"content":{"size":12},"_error":"net::ERR_ABORTED"}"#,
        ]
    )
    func missing(response: String) async throws {
        try write(response)
        let provider = bench.provider(try ReplayTransport(bench.file))
        #expect(try await provider.request(bench.target("/first")).data.isEmpty)
        let error = try #require(try await provider.failure(bench.target()))
        #expect(error.code == .recording(.corrupt))
        #expect(error.reason.contains("in entry 1: response.content has 12 bytes but no text"))
        let finding = "entry 1, response.content.text is missing, but size is 12; the entry cannot be replayed"
        let lines = try HARTool().findings(in: bench.file, named: "api.har").lines
        #expect(lines.contains("api.har: contradiction: " + finding))
    }

    @Test(
        "F17 Responses without a body, redirects and side files may have a size without text",
        arguments: [("HEAD", 200), ("GET", 204), ("GET", 304), ("GET", 302)]
    )
    func bodiless(method: String, status: Int) async throws {
        try write(#"{"status":\#(status),"content":{"size":12}}"#, method: method)
        let provider = bench.provider(try ReplayTransport(bench.file))
        let method = try #require(HTTPRequest.Method(rawValue: method))
        #expect(try await provider.failureCode(bench.target(method: method)) == nil)
        let lines = try HARTool().findings(in: bench.file, named: "api.har").lines
        #expect(!lines.contains { $0.contains("response.content.text") })
    }
}
