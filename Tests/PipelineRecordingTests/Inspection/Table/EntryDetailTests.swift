import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("An entry of a recording in full", .watched)
struct EntryDetailTests {
    private func lines(
        _ exchange: RecordedExchange,
        redactor: Redactor = .standard,
        isColored: Bool = false
    ) throws -> [String] {
        try EntryDetail(Sample.entries(exchange)[0], redactor: redactor).lines(isColored: isColored)
    }

    @Test("Request, times, response and bodies are shown")
    func whole() throws {
        let exchange = Sample.exchange("POST", body: "{\n\t\"n\": 1\n}") {
            $0.request.headers[.accept] = "*/*"
            $0.request.body = Data("a=1".utf8)
            $0.response?.reasonPhrase = "OK"
        }
        #expect(
            try lines(exchange) == [
                "POST https://h.example/a",
                "sent 2027-01-15T08:00:00.000Z, header fields after 20.0 ms, end after 100.0 ms, HTTP/1.1",
                "",
                "request",
                "  Accept: */*",
                "  body, 3 B:",
                "  a=1",
                "",
                "response 200 OK",
                "  Content-Type: application/json; charset=utf-8",
                "  body, 11 B:",
                "  {",
                "  \t\"n\": 1",
                "  }",
            ]
        )
    }

    @Test("A failure is shown with its code and text")
    func failure() throws {
        let exchange = Sample.exchange {
            $0.response = nil
            $0.failure = .init(code: "dns", text: "no\u{1b} such host")
        }
        #expect(try lines(exchange).suffix(3) == ["", "response dns", #"  failure: no\u{1b} such host"#])
    }

    @Test("Secrets are hidden, and colored output styles the headings and the status")
    func secrets() throws {
        let exchange = Sample.exchange(
            "GET",
            "https://h.example/opensesame?q=1",
            status: 500,
            body: #"{"token":"abc"}"#
        ) {
            $0.request.headers[.authorization] = "Bearer abc"
            $0.response?.reasonPhrase = "opensesame"
        }
        let redactor = Redactor(secretValues: ["opensesame"])
        let text = try lines(exchange, redactor: redactor, isColored: true).joined(separator: "\n")
        #expect(!text.contains("opensesame") && !text.contains("abc"))
        #expect(text.contains("Authorization: …"))
        #expect(text.hasPrefix("\u{1b}[1mGET https://h.example/…?q=…\u{1b}[0m\n"))
        #expect(text.contains("\u{1b}[1mresponse\u{1b}[0m \u{1b}[31m500\u{1b}[0m …"))
    }

    @Test("An entry that cannot be read is an error")
    func unreadable() {
        #expect(throws: (any Error).self) { try EntryDetail(Sample.unreadable(0)).lines() }
    }
}
