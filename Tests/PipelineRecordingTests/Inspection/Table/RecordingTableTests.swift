import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("The table of a recording", .watched)
struct RecordingTableTests {
    @Test("Each entry is one line of aligned columns")
    func lines() {
        let failed = Sample.exchange("DELETE", "http://h.example/") {
            $0.response = nil
            $0.failure = .init(code: "connect.refused", text: "")
            $0.duration = .milliseconds(1_550)
        }
        let part = Sample.exchange(status: 206, body: String(repeating: "x", count: 2_000)) {
            $0.failure = .init(code: "truncated", text: "")
        }
        #expect(
            RecordingTable(Sample.entries(Sample.exchange(), failed, part)).lines() == [
                "#  method  URL                           status  type                 size      time",
                "0  GET     https://h.example/a              200  application/json      2 B  100.0 ms",
                "1  DELETE  http://h.example/    connect.refused                                1.6 s",
                "2  GET     https://h.example/a    206 truncated  application/json  2.0 KiB  100.0 ms",
            ]
        )
    }

    @Test("An unreadable entry has its own line, and its index and the reason follow below")
    func unreadable() {
        let table = RecordingTable(Sample.entries(Sample.exchange()) + [Sample.unreadable(1)])
        #expect(
            table.lines().suffix(2) == ["1  ?       ?          ?", "entry 1 cannot be read: no URL"]
        )
        #expect(table.problems == ["entry 1 cannot be read: no URL"])
    }

    @Test("Query values, user names and declared secrets are hidden")
    func secrets() {
        let exchange = Sample.exchange("GET", "https://u:p4ssw0rd@h.example/k/abcdefgh?token=qqqq") {
            $0.response?.headers[.contentType] = "text/abcdefgh"
        }
        let redactor = Redactor(secretValues: ["abcdefgh"])
        let table = RecordingTable(Sample.entries(exchange) + [Sample.unreadable(1, "at abcdefgh")], redactor: redactor)
        #expect(table.origin == "https://…@h.example")
        let text = table.lines().joined(separator: "\n")
        #expect(text.contains("  /k/…?token=…"))
        for secret in ["abcdefgh", "p4ssw0rd", "qqqq"] { #expect(!text.contains(secret)) }
    }

    @Test("URLs of a single origin are shown as paths, and an empty path as a slash")
    func paths() {
        let second = Sample.exchange("GET", "https://h.example?q=1")
        let table = RecordingTable(Sample.entries(Sample.exchange(), second))
        #expect(table.origin == "https://h.example")
        #expect(
            table.lines() == [
                "#  method  path   status  type              size      time",
                "0  GET     /a        200  application/json   2 B  100.0 ms",
                "1  GET     /?q=…     200  application/json   2 B  100.0 ms",
            ]
        )
        let other = Sample.exchange("GET", "https://h.example:8443/b")
        #expect(RecordingTable(Sample.entries(Sample.exchange(), other)).origin == nil)
    }

    @Test("Column names and the status are colored without changing the alignment")
    func colors() {
        let statuses = [200, 304, 404, 503].map { status in Sample.exchange(status: status) }
        let failed = Sample.exchange {
            $0.response = nil
            $0.failure = .init(code: "dns", text: "")
        }
        let table = RecordingTable(Sample.entries(statuses[0], statuses[1], statuses[2], statuses[3], failed))
        let lines = table.lines(isColored: true)
        #expect(lines[0].hasPrefix("\u{1b}[1m#"))
        for (line, style) in zip(lines.dropFirst(), ["32m200", "36m304", "33m404", "31m503", "31mdns"]) {
            #expect(line.contains("\u{1b}[\(style)\u{1b}[0m"))
        }
        #expect(lines.map { $0.replacing(/\u{1b}\[\d+m/, with: "") } == table.lines())
    }

    @Test("A long URL is truncated so that lines fit the terminal", arguments: [80, 100, 200])
    func width(width: Int) {
        let long = Sample.exchange("GET", "https://h.example/" + String(repeating: "a", count: 500))
        let lines = RecordingTable(Sample.entries(long)).lines(width: width)
        #expect(lines.allSatisfy { $0.count <= width })
        #expect(lines[1].contains("a…"))
    }

    @Test("No entry prints control characters of terminals or of the direction of text")
    func controls() {
        let exchange = Sample.exchange("GE\u{1b}[2JT\u{202e}", "https://h.example/\u{1b}[1m\u{9b}\u{2066}") {
            $0.failure = .init(code: "\u{7}x", text: "")
        }
        for line in RecordingTable(Sample.entries(exchange)).lines() {
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) })
            #expect(line.unicodeScalars.allSatisfy { !["\u{202e}", "\u{2066}"].contains($0) })
        }
    }

    @Test(
        "Sizes and times have units",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB"), (5_368_709_120, "5.0 GiB"),
        ]
    )
    func units(byteCount: Int, text: String) {
        #expect(RecordingTable.size(byteCount) == text)
        #expect(RecordingTable.time(.microseconds(1_250)) == "1.3 ms")
        #expect(RecordingTable.time(.seconds(61)) == "61.0 s")
    }
}
