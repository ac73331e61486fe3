import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("The parts of an entry", .watched)
struct EntryPartsTests {
    struct PartCase: Sendable, CustomTestStringConvertible {
        let line: String
        let change: @Sendable (inout RecordedExchange) -> Void

        init(_ line: String, _ change: @escaping @Sendable (inout RecordedExchange) -> Void) {
            self.line = line
            self.change = change
        }

        var testDescription: String { line }
    }

    @Test(
        "Each part is compared",
        arguments: [
            PartCase(#"request field accept: text/html → */*"#) { $0.request.headers[.accept] = "*/*" },
            PartCase(#"request body: 1 bytes: a → 2 bytes: ab"#) { $0.request.body = Data("ab".utf8) },
            PartCase(#"request body: 1 bytes: a → none"#) { $0.request.body = nil },
            PartCase(#"status: 200 → 404"#) { $0.response?.status = 404 },
            PartCase(#"reason phrase: OK → Fine"#) { $0.response?.reasonPhrase = "Fine" },
            PartCase(#"response field vary: none → Accept"#) { $0.response?.headers[.vary] = "Accept" },
            PartCase(#"response body $.n: 1 → 2"#) { $0.response?.body = Data(#"{"n":2}"#.utf8) },
            PartCase(#"response body: 7 bytes: {"n":1} → 8 bytes: {"n": 1}"#) {
                $0.response?.body = Data(#"{"n": 1}"#.utf8)
            },
            PartCase(#"response body: 7 bytes: {"n":1} → 1 bytes: <1 bytes of application/json>"#) {
                $0.response?.body = Data("x".utf8)
            },
            PartCase(#"HTTP version: HTTP/1.1 → HTTP/2"#) { $0.httpVersion = "HTTP/2" },
            PartCase(#"failure: none → truncated"#) { $0.failure = .init(code: "truncated", text: "") },
        ]
    )
    func parts(part: PartCase) {
        let exchange = Sample.exchange("POST", body: #"{"n":1}"#) {
            $0.request.headers[.accept] = "text/html"
            $0.request.headers[.contentType] = "text/plain"
            $0.request.body = Data("a".utf8)
            $0.response?.reasonPhrase = "OK"
        }
        var other = exchange
        part.change(&other)
        let lines = RecordingDifference(Sample.entries(exchange), Sample.entries(other)).lines
        #expect(lines == ["~ entry 0 and 0 POST https://h.example/a", "    " + part.line])
    }

    @Test("Repeated fields are compared in order as one part, and names are case-insensitive")
    func fields() throws {
        let name = try #require(HTTPField.Name("X-Trace"))
        let lower = try #require(HTTPField.Name("x-trace"))
        let first = Sample.exchange {
            $0.response?.headers.append(HTTPField(name: name, value: "1"))
            $0.response?.headers.append(HTTPField(name: name, value: "2"))
        }
        let same = Sample.exchange {
            $0.response?.headers.append(HTTPField(name: lower, value: "1"))
            $0.response?.headers.append(HTTPField(name: lower, value: "2"))
        }
        let turned = Sample.exchange {
            $0.response?.headers.append(HTTPField(name: name, value: "2"))
            $0.response?.headers.append(HTTPField(name: name, value: "1"))
        }
        #expect(RecordingDifference(Sample.entries(first), Sample.entries(same)).lines == [])
        #expect(RecordingDifference(Sample.entries(first), Sample.entries(turned)).lines.count == 2)
    }

    @Test("Ignored fields are not compared")
    func ignored() {
        let other = Sample.exchange { $0.response?.headers[.date] = "Sat, 21 Nov 2026 10:00:00 GMT" }
        let entries = (Sample.entries(Sample.exchange()), Sample.entries(other))
        #expect(RecordingDifference(entries.0, entries.1).lines.count == 2)
        #expect(RecordingDifference(entries.0, entries.1, ignoring: [.date]).lines == [])
    }

    @Test("A difference beyond the shown part of a body is shown with its position")
    func behindTheCut() throws {
        let exchange = { (end: String) in
            Sample.exchange(body: "{\"a\":\"" + String(repeating: "x", count: 500) + "\",\"b\":\"\(end)\"}") {
                $0.response?.headers[.contentType] = "text/plain"
            }
        }
        let lines = RecordingDifference(Sample.entries(exchange("one")), Sample.entries(exchange("two"))).lines
        let excerpt = #"518 bytes, from character 493: "xxxxxxxxxxxxx\",\"b\":\"#
        #expect(lines.last == "    response body: \(excerpt)\"one\\\"}\" → \(excerpt)\"two\\\"}\"")
    }

    @Test(
        "Bodies that differ are never shown as equal, even if the difference is hidden or binary",
        arguments: [
            (#"{"token":"a"}"#, #"{"token":"b"}"#, "application/json"),
            (#"{"token":["a"]}"#, #"{"token":["b"]}"#, "application/json"), (#"["a"]"#, #"[ "a"]"#, "application/json"),
            ("\u{0}a", "\u{0}b", "image/png"),
            ("a\nb", "a b", "text/plain"),
        ]
    )
    func neverEqual(first: String, second: String, type: String) {
        let exchanges = [first, second].map { body in
            Sample.exchange(body: body) { $0.response?.headers[.contentType] = type }
        }
        let lines = RecordingDifference(Sample.entries(exchanges[0]), Sample.entries(exchanges[1])).lines
        #expect(lines.count == 2)
        let texts = lines.last?.components(separatedBy: ": ").dropFirst().joined(separator: ": ")
            .components(separatedBy: " → ")
        #expect(texts?.count == 2)
        #expect(texts?.first != texts?.last)
        #expect(texts?.last?.contains("\"b\"") == false)
    }
}
