import Foundation
import HTTPTypes
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Entries as real writers mean them")
struct HAREntryReadingTests {
    private func response(_ text: String) throws -> RecordedExchange.Response {
        try #require(try HAREntry(response: text).exchange(sideFiles: nil).response)
    }

    private func text(_ content: String, headers: String = "[]") throws -> Data {
        try response(#"{"status":200,"headers":\#(headers),"content":\#(content)}"#).body
    }

    @Test("Method, URL and status are enough")
    func least() throws {
        let exchange = try HAREntry(response: #"{"status":204}"#).exchange(sideFiles: nil)
        #expect(exchange.request == .init(method: "GET", url: "http://h/"))
        #expect(exchange.response == .init(status: 204))
        #expect(exchange.failure == nil && exchange.start == nil && exchange.httpVersion == "")
        #expect(exchange.duration == .zero && exchange.headDelay == .zero)
    }

    @Test(
        "Without method, URL or status an entry is corrupt, and the error says what is missing",
        arguments: [
            ("[]", "request.method"), ("{}", "request.method"), (#"{"request":{"method":null}}"#, "request.method"),
            (#"{"request":{"method":""}}"#, "request.method is empty"),
            (#"{"request":{"method":"GET"}}"#, "request.url"),
            (#"{"request":{"method":"GET","url":"http://h/"}}"#, "response.status"),
            (#"{"request":{"method":"GET","url":"http://h/"},"response":{"status":"200"}}"#, "response.status"),
            (#"{"request":{"method":"GET","url":"http://h/"},"response":{"status":99}}"#, "response.status"),
            (#"{"request":{"method":"GET","url":"http://h/"},"response":{"status":1000}}"#, "response.status"),
        ]
    )
    func corrupt(text: String, place: String) throws {
        let entry = try HAREntry(text)
        let error = failure { _ = try entry.exchange(sideFiles: nil) }
        #expect(error?.code == .recording(.corrupt))
        #expect(error?.reason.contains(place) == true)
    }

    @Test("Null is the same as nothing, everywhere")
    func null() throws {
        let entry = try HAREntry(
            """
            {"startedDateTime":null,"time":null,"timings":null,"request":{"method":"GET","url":"http://h/","httpVersion":null,
            "headers":null,"postData":null,"bodySize":null},"response":{"status":200,"statusText":null,"headers":null,
            "content":null,"bodySize":null,"_error":null,"_failureText":null,"_errorKind":null,"_chunks":null,"_trailers":null}}
            """
        )
        #expect(
            try entry.exchange(sideFiles: nil)
                == RecordedExchange(request: .init(method: "GET", url: "http://h/"), response: .init(status: 200))
        )
    }

    @Test("Numbers may have a fraction where they are whole, and the other way round")
    func numbers() throws {
        let entry = try HAREntry(
            #"{"time":14.666,"timings":{"receive":4},"request":{"method":"GET","url":"u"},"response":{"status":200.0,"bodySize":7.0}}"#
        )
        let exchange = try entry.exchange(sideFiles: nil)
        #expect(exchange.response?.status == 200 && exchange.response?.wireByteCount == 7)
        #expect(exchange.duration == .microseconds(14_666) && exchange.headDelay == .microseconds(10_666))
    }

    @Test(
        "Times: the sum of the phases where the whole is not said, nothing for what is negative, null or no number",
        arguments: [
            (#""time":10,"timings":{"wait":3,"receive":2}"#, 8_000, 10_000),
            (
                #""time":-1,"timings":{"blocked":1,"dns":-1,"connect":2,"ssl":1.5,"send":0.5,"wait":3,"receive":2}"#,
                6_500, 8_500
            ),
            (#""timings":{"send":-1,"wait":-1,"receive":-1}"#, 0, 0), (#""time":1,"timings":{"receive":5}"#, 0, 1_000),
            (#""time":NaN,"timings":{"wait":Infinity,"receive":1}"#, 0, 1_000), (#""time":"5""#, 0, 0),
            (#""time":1e300"#, 1_000_000_000_000_000, 1_000_000_000_000_000), (#""timings":{}"#, 0, 0),
        ]
    )
    func times(text: String, head: Int, total: Int) throws {
        let entry = try HAREntry(#"{\#(text),"request":{"method":"GET","url":"u"},"response":{"status":200}}"#)
        let exchange = try entry.exchange(sideFiles: nil)
        #expect(exchange.headDelay == .microseconds(head))
        #expect(exchange.duration == .microseconds(total))
    }

    @Test(
        "Dates: any zone, any number of decimals",
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

    // MARK: Header fields

    @Test("Pseudo fields and names that are none are left out; joined values are several fields; order and case stay")
    func headers() throws {
        let fields = try response(
            #"""
            {"status":200,"headers":[{"name":":status","value":"200"},{"name":"X-B","value":"1"},{"name":"bad name","value":"x"},
            {"name":"set-cookie","value":"a=1\nb=2\n"},["X-Pair","2"],{"name":"x-b","value":["3","4"]},{"name":"","value":""},
            {"name":"X-Null","value":null},{"name":"X-Number","value":5},{"name":"X-Bool","value":true},7,{"value":"x"}]}
            """#
        ).headers
        #expect(
            fields.map { "\($0.name.rawName)=\($0.value)" } == [
                "X-B=1", "set-cookie=a=1", "set-cookie=b=2", "set-cookie=", "X-Pair=2", "x-b=3", "x-b=4", "X-Null=",
                "X-Number=5", "X-Bool=true",
            ]
        )
    }

    @Test("A header value never holds a line end, a NUL or another control character")
    func injection() throws {
        let fields = try response(
            #"{"status":200,"headers":[{"name":"a","value":"1\r\nX: y\r\n\r\n\u0000\u0001z\rq"},{"name":"b\r\nc","value":""}]}"#
        ).headers
        #expect(!fields.isEmpty)
        for field in fields {
            #expect(field.name.rawName == "a")
            #expect(field.withUnsafeBytesOfValue { $0.allSatisfy { $0 >= 0x20 && $0 != 0x7f } })
        }
    }

    // MARK: Bodies of responses

    @Test(
        "Text is encoded in the charset of Content-Type, else of the media type of the content, else in UTF-8",
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

    @Test("Text that its charset cannot hold is UTF-8; what browsers call ISO-8859-1 holds the euro sign")
    func charsetTooSmall() throws {
        #expect(try text(#"{"text":"→","mimeType":"a/b;charset=iso-8859-1"}"#) == Data("→".utf8))
        #expect(try text(#"{"text":"€","mimeType":"a/b;charset=iso-8859-1"}"#) == Data([0x80]))
    }

    @Test(
        "Base64, also with line ends; nothing where the text is missing; sizes are not trusted",
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

    @Test("F04 Bad base64 is an error", arguments: ["A", "AP8", "****", "AP8=x", "A\u{e9}8="])
    func badBase64(text: String) throws {
        let entry = try HAREntry(response: #"{"status":200,"content":{"encoding":"base64","text":"\#(text)"}}"#)
        #expect(failure { _ = try entry.exchange(sideFiles: nil) }?.code == .recording(.corrupt))
        let request = try HAREntry(
            request: #"{"method":"PUT","url":"u","postData":{"_encoding":"base64","text":"\#(text)"}}"#
        )
        #expect(failure { _ = try request.exchange(sideFiles: nil) }?.code == .recording(.corrupt))
    }

    @Test("Pieces in base64 or base 16 are one body, in its content coding when there is one")
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

    @Test("A body in hexadecimal digits is decoded if it is marked, and an error if it is not hexadecimal")
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

    @Test("Pieces in base 16 without a marker are a body if that is in the content coding that a field names")
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

    @Test("Pieces with times, if they make up the body")
    func chunks() throws {
        func chunks(_ text: String) throws -> [RecordedExchange.Chunk] {
            try response(#"{"status":200,"content":{"text":"abcde"},"_chunks":\#(text)}"#).chunks
        }
        #expect(
            try chunks(#"[{"size":2,"time":1.5},{"size":3}]"#) == [
                .init(byteCount: 2, delay: .microseconds(1500)), .init(byteCount: 3, delay: .zero),
            ]
        )
        for text in ["[]", #"[{"size":2}]"#, #"[{"size":6}]"#, #"[{"size":-1},{"size":6}]"#, #"[{"time":5}]"#, "7"] {
            #expect(try chunks(text).isEmpty, "\(text)")
        }
    }

    @Test("Trailers are read as header fields are")
    func trailers() throws {
        let trailers = try response(#"{"status":200,"_trailers":[{"name":"X-Sum","value":"1"}]}"#).trailers
        #expect(trailers.map(\.value) == ["1"])
    }

    @Test("The HTTP version is the response's, else the request's")
    func version() throws {
        let entry = try HAREntry(
            #"{"request":{"method":"GET","url":"u","httpVersion":"h3"},"response":{"status":200,"httpVersion":""}}"#
        )
        #expect(try entry.exchange(sideFiles: nil).httpVersion == "h3")
    }
}
