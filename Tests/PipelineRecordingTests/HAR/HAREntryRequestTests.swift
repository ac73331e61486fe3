import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Request bodies and failed exchanges", .watched)
struct HAREntryRequestTests {
    private func body(
        _ postData: String,
        bodySize: String = "null",
        method: String = "POST",
        length: Int? = nil
    ) throws -> Data? {
        let header = length.map { #"{"name":"Content-Length","value":"\#($0)"}"# } ?? ""
        return try HAREntry(
            request: """
                {"method":"\(method)","url":"u","headers":[\(header)],"bodySize":\(bodySize),"postData":\(postData)}
                """
        ).exchange(sideFiles: nil).request.body
    }

    @Test("Text is UTF-8, or Latin-1 if only that matches the size")
    func text() throws {
        let text = #"{"text":"ü\u0000"}"#
        let (utf8, latin1) = (Data([0xc3, 0xbc, 0x00]), Data([0xfc, 0x00]))
        #expect(try body(text) == utf8)
        #expect(try body(text, bodySize: "3") == utf8)
        #expect(try body(text, bodySize: "2") == latin1)
        #expect(try body(text, bodySize: "-1", length: 2) == latin1)
        // Firefox counts UTF-16 units.
        #expect(try body(text, bodySize: "2", length: 3) == utf8)
        #expect(try body(#"{"text":"→"}"#, bodySize: "1") == Data("→".utf8))
    }

    @Test("Base64 is recognized under both member names", arguments: ["_encoding", "encoding"])
    func base64(name: String) throws {
        #expect(try body(#"{"text":"AP8=","\#(name)":"base64"}"#) == Data([0x00, 0xff]))
    }

    @Test("Parameters become a form body if the text is missing, and no body if one of them is a file")
    func parameters() throws {
        let params = #"[{"name":"a b","value":"1&2"},{"name":"ü"},{"value":"x"}]"#
        #expect(try body(#"{"params":\#(params)}"#) == Data("a+b=1%262&%C3%BC=".utf8))
        #expect(try body(#"{"params":\#(params),"text":"x=1"}"#) == Data("x=1".utf8))
        #expect(try body(#"{"params":[{"name":"a","fileName":"f"}]}"#) == nil)
        #expect(try body(#"{"params":[]}"#) == nil)
        #expect(try body(#"{"params":\#(params),"text":""}"#) == Data("a+b=1%262&%C3%BC=".utf8))
        #expect(try body(#"{"params":[],"text":""}"#) == Data())
    }

    @Test("Empty text is an empty body, but no body for GET and HEAD")
    func empty() throws {
        #expect(try body(#"{"text":""}"#) == Data())
        #expect(try body(#"{"text":""}"#, method: "GET") == nil)
        #expect(try body(#"{"text":"","mimeType":""}"#, method: "HEAD") == nil)
        #expect(try body(#"{"text":"x"}"#, method: "GET") == Data("x".utf8))
        #expect(try body("null") == nil)
        #expect(try body("{}") == nil)
    }

    @Test(
        "A failure from any writer is read as a failure, never as a response",
        arguments: [
            (#"{"status":0}"#, "transport"),
            (#"{"status":-1,"_failureText":"net::ERR_CONNECTION_REFUSED"}"#, "connect.refused"),
            (#"{"status":0,"_error":"net::ERR_NAME_NOT_RESOLVED","content":{}}"#, "dns"),
            (#"{"status":0,"_error":"[Errno 111] Connect call failed ('127.0.0.1', 1)"}"#, "connect.refused"),
            (#"{"status":0,"_error":"Client disconnected."}"#, "connectionLost"), (#"{"_error":"x"}"#, "transport"),
            (#"{"status":0,"_error":"net::ERR_CERT_DATE_INVALID"}"#, "tls.certificate"),
            (#"{"status":0,"_error":"x","_errorKind":"timeout.idle"}"#, "timeout.idle"),
        ]
    )
    func failures(response: String, code: String) throws {
        let entry = try HAREntry(response: response)
        let exchange = try entry.exchange(sideFiles: nil)
        #expect(entry.isFailure)
        #expect(exchange.response == nil)
        #expect(exchange.failure?.code == code)
    }

    @Test("A failure next to a status means that the response was cut off")
    func cutOff() throws {
        let entry = try HAREntry(response: #"{"status":200,"content":{"text":"ab"},"_error":"net::ERR_FAILED"}"#)
        let exchange = try entry.exchange(sideFiles: nil)
        #expect(exchange.response?.body == Data("ab".utf8))
        #expect(exchange.failure == .init(code: "connectionLost", text: "net::ERR_FAILED"))
        #expect(entry.isFailure)
        #expect(try !HAREntry(response: #"{"status":200,"_error":""}"#).isFailure)
    }
}
