import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Entries as HAR 1.2 specifies them", .watched)
struct HAREntryWritingTests {
    static let start = Date(timeIntervalSince1970: 1_795_227_146.1194)

    private func entry(
        url: String = "https://h/a?b=c%20d&e",
        request headers: HTTPFields = [:],
        body: Data? = nil,
        _ response: RecordedExchange.Response? = .init(status: 200)
    ) -> JSONNode {
        HAREntry(
            RecordedExchange(
                request: .init(method: "POST", url: url, headers: headers, body: body),
                response: response,
                start: Self.start,
                headDelay: .nanoseconds(1_234_567),
                duration: .microseconds(5_000),
                httpVersion: "HTTP/2"
            )
        ).json
    }

    private func text(_ node: JSONNode?) -> String { node.map { String(decoding: $0.data(), as: UTF8.self) } ?? "" }

    @Test("An entry has exactly the required members")
    func whole() {
        #expect(
            text(entry()) == """
                {"startedDateTime":"2026-11-21T02:12:26.119Z","time":5,"request":{"method":"POST","url":"https://h/a?b=c%20d&e",\
                "httpVersion":"HTTP/2","cookies":[],"headers":[],"queryString":[{"name":"b","value":"c d"},{"name":"e","value":""}],\
                "headersSize":-1,"bodySize":0},"response":{"status":200,"statusText":"","httpVersion":"HTTP/2","cookies":[],\
                "headers":[],"content":{"size":0,"mimeType":""},"redirectURL":"","headersSize":-1,"bodySize":-1},"cache":{},\
                "timings":{"send":0,"wait":1.235,"receive":3.765}}
                """
        )
    }

    @Test(
        "Query names and values are percent-decoded if the result is UTF-8; the fragment is removed",
        arguments: [
            ("http://h/", "[]"), ("http://h/?", "[]"), ("http://h/#f?a=b", "[]"),
            ("http://h/?a+b=%C3%BC+1&&x=y=z", #"[{"name":"a b","value":"ü 1"},{"name":"x","value":"y=z"}]"#),
            ("http://h/?a=%FF#f", #"[{"name":"a","value":"%FF"}]"#), ("http://h/?=1", #"[{"name":"","value":"1"}]"#),
        ]
    )
    func query(url: String, json: String) {
        let request = entry(url: url)["request"]
        #expect(text(request?["queryString"]) == json)
        #expect(request?["url"]?.string?.contains("#") == false)
    }

    @Test("Header fields keep order, case and repetition; a value that is not UTF-8 keeps its bytes")
    func headers() throws {
        var fields = HTTPFields()
        for (name, value) in [("X-b", "1"), ("Set-Cookie", "a=1"), ("x-B", "ü"), ("Set-Cookie", "b=2")] {
            fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        fields.append(HTTPField(name: try #require(HTTPField.Name("X-Bytes")), value: [0x61, 0xfc, 0xff]))
        let node = entry(.init(status: 200, headers: fields))
        #expect(
            text(node["response"]?["headers"])
                == #"[{"name":"X-b","value":"1"},{"name":"Set-Cookie","value":"a=1"},{"name":"x-B","value":"ü"},"#
                + #"{"name":"Set-Cookie","value":"b=2"},{"name":"X-Bytes","value":"aüÿ","_encoding":"latin1"}]"#
        )
        #expect(try HAREntry(json: node).exchange(sideFiles: nil).response?.headers == fields)
    }

    @Test(
        "A body is text if it and its charset are UTF-8, and base64 otherwise; its bytes are read back unchanged",
        arguments: [
            (nil, Array("ü\u{0}".utf8), nil), ("text/plain; charset=UTF-8", Array("ü".utf8), nil),
            ("application/json", [0xef, 0xbb, 0xbf, 0x7b], nil),
            ("text/plain; charset=iso-8859-1", Array("a".utf8), "base64"),
            ("text/plain", [0xff, 0x00], "base64"), ("application/octet-stream", Array("[1]".utf8), nil),
            ("a/b; charset=\"utf8\"", Array("a\r\n".utf8), nil), ("a/b; charset=utf-16", [0x00, 0x61], "base64"),
        ] as [(String?, [UInt8], String?)]
    )
    func content(type: String?, bytes: [UInt8], encoding: String?) throws {
        let headers: HTTPFields = type.map { [.contentType: $0] } ?? [:]
        let node = entry(request: headers, body: Data(bytes), .init(status: 200, headers: headers, body: Data(bytes)))
        let content = node["response"]?["content"]
        #expect(content?["encoding"]?.string == encoding)
        #expect(content?["size"]?.int == bytes.count)
        #expect(content?["mimeType"]?.string == type ?? "")
        let exchange = try HAREntry(json: try JSONParser.parse(node.data())).exchange(sideFiles: nil)
        #expect(exchange.response?.body == Data(bytes))
        #expect(exchange.request.body == Data(bytes))
    }

    @Test("A request body that is not UTF-8 is base64, marked by both encoding and _encoding")
    func postData() {
        let post = entry(request: [.contentType: "a/b"], body: Data([0xff]))["request"]
        #expect(
            text(post?["postData"]) == #"{"mimeType":"a/b","text":"/w==","encoding":"base64","_encoding":"base64"}"#
        )
        #expect(post?["bodySize"]?.int == 1)
        #expect(text(entry(body: Data("a=1".utf8))["request"]?["postData"]) == #"{"mimeType":"","text":"a=1"}"#)
        #expect(text(entry(body: Data())["request"]?["postData"]) == #"{"mimeType":"","text":""}"#)
    }

    @Test(
        "compression is present if the length on the wire is known and differs from the size",
        arguments: [(nil, 200, -1, nil), (5, 200, 5, nil), (3, 200, 3, 2), (9, 200, 9, -4), (nil, 304, 0, nil)]
            as [(Int?, Int, Int, Int?)]
    )
    func compression(wire: Int?, status: Int, bodySize: Int, compression: Int?) {
        let node = entry(.init(status: status, body: Data("abcde".utf8), wireByteCount: wire))["response"]
        #expect(node?["bodySize"]?.int == bodySize)
        #expect(node?["content"]?["compression"]?.int == compression)
    }

    @Test("redirectURL is the value of Location")
    func redirect() {
        let node = entry(.init(status: 302, reasonPhrase: "Found", headers: [.location: "/b"]))["response"]
        #expect(node?["redirectURL"] == .string("/b"))
        #expect(node?["statusText"] == .string("Found"))
    }

    @Test("A failure has status 0; a failure within the body keeps the part that had arrived")
    func failures() throws {
        var exchange = RecordedExchange(
            request: .init(method: "GET", url: "http://h/"),
            failure: .init(code: "timeout.idle", text: "nothing came"),
            headDelay: .seconds(1),
            duration: .seconds(1)
        )
        let node = HAREntry(exchange).json
        #expect(
            text(node["response"]) == """
                {"status":0,"statusText":"","httpVersion":"","cookies":[],"headers":[],"content":{"size":0,"mimeType":""},\
                "redirectURL":"","headersSize":-1,"bodySize":-1,"_error":"nothing came","_errorKind":"timeout.idle"}
                """
        )
        #expect(node["startedDateTime"] == .string("1970-01-01T00:00:00.000Z"))
        exchange.response = .init(
            status: 200,
            body: Data("ab".utf8),
            chunks: [.init(byteCount: 2, delay: .milliseconds(3))]
        )
        let cut = HAREntry(exchange).json["response"]
        #expect(cut?["status"]?.int == 200)
        #expect(cut?["_errorKind"]?.string == "timeout.idle")
        #expect(text(cut?["_chunks"]) == #"[{"size":2,"time":3}]"#)
        // Without a response and without a failure, the entry is still read as a failure.
        exchange.response = nil
        exchange.failure = nil
        #expect(try HAREntry(exchange).exchange(sideFiles: nil).failure?.code == "transport")
    }

    @Test(
        "Times are finite, not negative, and add up",
        arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero]
    )
    func times(duration: Duration) throws {
        let exchange = RecordedExchange(
            request: .init(method: "GET", url: "u"),
            response: .init(status: 200),
            headDelay: .milliseconds(2),
            duration: duration
        )
        let node = HAREntry(exchange).json
        let phases = try ["send", "wait", "receive"].map { try #require(node["timings"]?[$0]?.double) }
        #expect(phases.allSatisfy { $0 >= 0 })
        #expect(try abs(#require(node["time"]?.double) - phases.reduce(0, +)) < 0.001)
    }

    @Test("Random exchanges are unchanged after writing and reading")
    func roundTrip() throws {
        var random = PipelineRandom.seeded(12)
        for number in 0..<300 {
            let exchange = Self.exchange(&random)
            let line = HAREntry(exchange).json.data(indentation: number % 2 == 0 ? nil : 3)
            let again = try HAREntry(json: try JSONParser.parse(line)).exchange(sideFiles: nil)
            let isSame = again == exchange
            #expect(isSame, "number \(number): \(String(decoding: line.prefix(300), as: UTF8.self))")
        }
    }

    private static func exchange(_ random: inout PipelineRandom) -> RecordedExchange {
        func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
        func bytes() -> Data {
            let isText = Bool.random(using: &random)
            return Data((0..<number(0..<40)).map { _ in UInt8(number(isText ? 32..<127 : 0..<256)) })
        }
        func fields() -> HTTPFields {
            var fields = HTTPFields()
            for _ in 0..<number(0..<5) {
                let names: [HTTPField.Name] = [.contentType, .setCookie, .cookie, .location, .contentEncoding, .eTag]
                let values = ["text/plain", "a/b; charset=latin1", "a=1; Path=/", "/x", "gzip", "\u{fc}", ""]
                fields.append(HTTPField(name: names[number(0..<6)], value: values[number(0..<7)]))
            }
            return fields
        }
        var exchange = RecordedExchange(
            request: .init(method: "PUT", url: "http://h/?a=\(number(0..<9))", headers: fields()),
            start: Date(timeIntervalSince1970: Double(number(0..<4_000_000)) * 1000 + 0.125),
            headDelay: .microseconds(number(0..<10_000))
        )
        exchange.duration = exchange.headDelay + .microseconds(number(0..<10_000))
        if Bool.random(using: &random) { exchange.request.body = bytes() }
        if number(0..<4) > 0 {
            let body = bytes()
            exchange.httpVersion = ["HTTP/1.1", "HTTP/2", "h3"][number(0..<3)]
            exchange.response = .init(status: number(100..<1000), reasonPhrase: "a", headers: fields(), body: body)
            exchange.response?.wireByteCount = number(0..<100)
            exchange.response?.trailers = fields()
            let cut = number(0..<body.count + 1)
            let delay = Duration.microseconds(number(0..<5000))
            exchange.response?.chunks = [
                .init(byteCount: cut, delay: delay), .init(byteCount: body.count - cut, delay: delay),
            ]
        }
        if exchange.response == nil || number(0..<5) == 0 { exchange.failure = .init(code: "timeout", text: "slow") }
        return exchange
    }
}
