import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Bodies as other HAR writers encode them", .watched)
struct HAREntryBodiesTests {
    private func response(_ text: String) throws -> RecordedExchange.Response {
        try #require(try HAREntry(response: text).exchange(sideFiles: nil).response)
    }

    private func text(_ content: String, headers: String = "[]") throws -> Data {
        try response(#"{"status":200,"headers":\#(headers),"content":\#(content)}"#).body
    }

    @Test(
        "The charset comes from Content-Type, else from the content's mimeType, else it is UTF-8",
        arguments: [
            ("", "text/plain", [0xc3, 0xbc]), ("text/plain", "", [0xc3, 0xbc]),
            ("text/html; charset=ISO-8859-1", "", [0xfc]), ("text/html", "text/html; Charset=\"latin1\"", [0xfc]),
            ("text/html; charset=utf-8", "text/html; charset=iso-8859-1", [0xc3, 0xbc]),
            ("a/b;charset=windows-1252", "", [0xfc]),
            ("a/b;charset=utf-16be", "", [0x00, 0xfc]), ("a/b; charset=unheard-of", "", [0xc3, 0xbc]),
            ("a/b; charset=us-ascii", "", [0xfc]),
        ] as [(String, String, [UInt8])]
    )
    func charsets(type: String, mimeType: String, bytes: [UInt8]) throws {
        let header = JSONNode.array([.object(["name": .string("Content-Type"), "value": .string(type)])])
        let content = JSONNode.object(["text": .string("ü"), "mimeType": .string(mimeType)])
        let headers = String(decoding: header.data(), as: UTF8.self)
        #expect(
            try text(String(decoding: content.data(), as: UTF8.self), headers: type.isEmpty ? "[]" : headers)
                == Data(bytes)
        )
    }

    @Test("Text that its charset cannot represent is UTF-8; ISO-8859-1 includes the euro sign, as in browsers")
    func charsetTooSmall() throws {
        #expect(try text(#"{"text":"→","mimeType":"a/b;charset=iso-8859-1"}"#) == Data("→".utf8))
        #expect(try text(#"{"text":"€","mimeType":"a/b;charset=iso-8859-1"}"#) == Data([0x80]))
    }

    @Test(
        "Base64 is decoded, even with line breaks; missing text is an empty body; sizes are ignored",
        arguments: [
            (#"{"text":"AP8=","encoding":"base64","size":99}"#, [0x00, 0xff]),
            (#"{"text":"AP\n8=\r\n","encoding":"base64"}"#, [0, 255]),
            (#"{"encoding":"base64","size":5}"#, []), (#"{"size":5}"#, []), ("{}", []),
            (#"{"text":"","encoding":"base64"}"#, []),
            (#"{"text":"AP8=","encoding":""}"#, Array("AP8=".utf8)), (#"{"text":"a","size":-1}"#, [0x61]),
        ] as [(String, [UInt8])]
    )
    func base64(content: String, bytes: [UInt8]) throws {
        #expect(try text(content) == Data(bytes))
    }

    @Test("F04 Invalid base64 is an error", arguments: ["A", "AP8", "****", "AP8=x", "A\u{e9}8="])
    func badBase64(text: String) throws {
        let entry = try HAREntry(response: #"{"status":200,"content":{"encoding":"base64","text":"\#(text)"}}"#)
        #expect(failure { _ = try entry.exchange(sideFiles: nil) }?.code == .recording(.corrupt))
        let request = try HAREntry(
            request: #"{"method":"PUT","url":"u","postData":{"_encoding":"base64","text":"\#(text)"}}"#
        )
        #expect(failure { _ = try request.exchange(sideFiles: nil) }?.code == .recording(.corrupt))
    }

    @Test("Base64 or hexadecimal pieces are joined into one body, which keeps any content coding")
    func pieces() throws {
        let coded = #"[{"name":"content-encoding","value":"gzip"}]"#
        let base64 = #"{"status":200,"headers":\#(coded),"content":{"encoding":"base64","text":"[\"H4s=\",\"AP8=\"]"}}"#
        #expect(try response(base64).body == Data([0x1f, 0x8b, 0x00, 0xff]))
        #expect(try response(base64).isCoded)
        let base16 = #"{"status":200,"content":{"_isBinary":true,"text":"[\"1f8b\",\"00FF\"]"}}"#
        #expect(try response(base16).body == Data([0x1f, 0x8b, 0x00, 0xff]))
        #expect(try !response(base16).isCoded)
        let mixed = #"{"status":200,"content":{"encoding":"base64","text":"[\"1f8b00\"]"}}"#
        #expect(try response(mixed).body == Data([0x1f, 0x8b, 0x00]))
        #expect(try text(#"{"text":"[1]"}"#) == Data("[1]".utf8))
        for text in [#"[\"x\"]"#, "[1]", "[", #"[\"abc\"]"#] {
            let entry = try HAREntry(response: #"{"status":200,"content":{"encoding":"base64","text":"\#(text)"}}"#)
            #expect(failure { _ = try entry.exchange(sideFiles: nil) }?.code == .recording(.corrupt), "\(text)")
        }
    }

    @Test("A body marked as hexadecimal is decoded, and is an error if it is not hexadecimal")
    func hexadecimal() throws {
        #expect(try text(#"{"text":"00ff1F8b","_isBinary":true}"#) == Data([0x00, 0xff, 0x1f, 0x8b]))
        #expect(try text(#"{"text":"00ff","encoding":"hex"}"#) == Data([0x00, 0xff]))
        #expect(try text(#"{"text":"00ff"}"#) == Data("00ff".utf8))
        #expect(try text(#"{"text":"AP8=","encoding":"base64","_isBinary":true}"#) == Data([0x00, 0xff]))
        let entry = try HAREntry(response: #"{"status":200,"content":{"text":"no hex","_isBinary":true}}"#)
        let error = failure { _ = try entry.exchange(sideFiles: nil) }
        #expect(error?.code == .recording(.corrupt))
        #expect(error?.reason.contains("response.content.text") == true)
    }

    @Test("Unmarked hexadecimal pieces are decoded only if the result has the declared content coding")
    func unmarkedPieces() throws {
        let coded = Deflate.gzip(Data("text".utf8))
        let digits = coded.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let fields = #"[{"name":"content-encoding","value":"gzip"}]"#
        let pieces = #"{"text":"[\"\#(digits.prefix(10))\",\"\#(digits.dropFirst(10))\"]"}"#
        let body = try response(#"{"status":200,"headers":\#(fields),"content":\#(pieces)}"#)
        #expect(body.body == coded)
        #expect(body.isCoded)
        #expect(try text(pieces).first == UInt8(ascii: "["))
        #expect(try text(#"{"text":"[\"ab\",\"cd\"]"}"#, headers: fields) == Data(#"["ab","cd"]"#.utf8))
    }
}
