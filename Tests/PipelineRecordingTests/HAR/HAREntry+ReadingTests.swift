import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Entries as other HAR writers produce them", .watched)
struct HAREntryReadingTests {
    private func response(_ text: String) throws -> RecordedExchange.Response {
        try #require(try HAREntry(response: text).exchange(sideFiles: nil).response)
    }

    private func text(_ content: String, headers: String = "[]") throws -> Data {
        try response(#"{"status":200,"headers":\#(headers),"content":\#(content)}"#).body
    }

    @Test("An entry needs only a method, a URL and a status")
    func least() throws {
        let exchange = try HAREntry(response: #"{"status":204}"#).exchange(sideFiles: nil)
        #expect(exchange.request == .init(method: "GET", url: "http://h/"))
        #expect(exchange.response == .init(status: 204))
        #expect(exchange.failure == nil && exchange.start == nil && exchange.httpVersion == "")
        #expect(exchange.duration == .zero && exchange.headDelay == .zero)
    }

    @Test(
        "An entry without a method, URL or status is corrupt, and the error names the missing member",
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

    @Test(
        "G09 A message with more than 1,000 fields is corrupt, however many it has and wherever they are",
        arguments: [1_000, 1_001, 70_000]
    )
    func manyFields(count: Int) throws {
        let elements = Array(repeating: #"{"name":"a","value":"b"}"#, count: count).joined(separator: ",")
        let lines = #"{"name":"a","value":"\#(String(repeating: "b\\n", count: count - 1))b"}"#
        let values = #"["a",[\#(Array(repeating: #""b""#, count: count).joined(separator: ","))]]"#
        for list in [elements, lines, values] {
            for (place, text) in [
                (
                    "request.headers",
                    #"{"request":{"method":"GET","url":"http://h/","headers":[\#(list)]},"response":{"status":200}}"#
                ),
                (
                    "response.headers",
                    #"{"request":{"method":"GET","url":"http://h/"},"response":{"status":200,"headers":[\#(list)]}}"#
                ),
                (
                    "response._trailers",
                    #"{"request":{"method":"GET","url":"http://h/"},"response":{"status":200,"_trailers":[\#(list)]}}"#
                ),
            ] {
                let entry = try HAREntry(text)
                let error = failure { _ = try entry.exchange(sideFiles: nil) }
                #expect(error?.code == (count > 1_000 ? .recording(.corrupt) : nil))
                #expect(error?.reason.contains(place) != false)
            }
        }
    }

    @Test("A null member is treated as a missing one, everywhere")
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

    @Test("Integers may be written with a fraction, and fractional numbers without one")
    func numbers() throws {
        let entry = try HAREntry(
            #"{"time":14.666,"timings":{"receive":4},"request":{"method":"GET","url":"u"},"response":{"status":200.0,"bodySize":7.0}}"#
        )
        let exchange = try entry.exchange(sideFiles: nil)
        #expect(exchange.response?.status == 200 && exchange.response?.wireByteCount == 7)
        #expect(exchange.duration == .microseconds(14_666) && exchange.headDelay == .microseconds(10_666))
    }

    @Test(
        "A missing total time is the sum of its phases; negative and non-numeric times count as zero",
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

    // MARK: Header fields

    @Test("Pseudo-header fields and invalid names are dropped; joined values are split; order and case are kept")
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

    @Test("A header field value never contains a line break, a NUL or another control character")
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

    @Test("Timed chunks are read if their sizes add up to the body")
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

    @Test("Trailers are read like header fields")
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
