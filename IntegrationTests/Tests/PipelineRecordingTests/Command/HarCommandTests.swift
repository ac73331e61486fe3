import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("The har command", .realTime, .watched)
struct HarCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "har-\(UUID())")

    private func har(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> (status: Int32, text: String, errors: String) {
        try await HarCommand.run(arguments, in: folder, environment: environment)
    }

    private func write(_ name: String, _ exchanges: RecordedExchange...) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var file = HARFile()
        for exchange in exchanges { file.append(HAREntry(exchange)) }
        try file.write(to: folder.appending(path: name))
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    @Test("inspect prints a table and a waterfall, and hides secrets")
    func inspect() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange("GET", "https://h.example/opensesame?q=1"))
        let result = try await har("inspect", "a.har", "--secret", "KEY", environment: ["KEY": "opensesame"])
        #expect(result.status == 0)
        #expect(result.text.hasPrefix("a.har: 1 entry, https://h.example\n\n#  method  path"))
        #expect(result.text.contains("0  GET     /…?q=…"))
        #expect(!result.text.contains("\u{1b}"))
        #expect(result.text.contains("█"))
        #expect(try await !har("inspect", "a.har", "--no-waterfall").text.contains("█"))
    }

    @Test("inspect and diff show the values of query items with --queries, but no secrets")
    func queries() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange("GET", "https://h.example/a?page=2&token=hunter2&q=opensesame"))
        try write("b.har")
        let environment = ["KEY": "opensesame"]
        let table = try await har("inspect", "a.har", "--queries", "--secret", "KEY", environment: environment)
        #expect(table.text.contains("/a?page=2&token=…&q=…"))
        let difference = try await har(
            "diff",
            "a.har",
            "b.har",
            "--queries",
            "--secret",
            "KEY",
            environment: environment
        )
        #expect(difference.text.contains("page=2") && !difference.text.contains("hunter2"))
        #expect(!(table.text + difference.text).contains("opensesame"))
        #expect(try await !har("inspect", "a.har").text.contains("page=2"))
    }

    @Test("inspect shows the valid entries of a file and lists the unreadable ones")
    func inspectBad() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange(), Sample.exchange())
        try Data(text("a.har").replacing(#""method": "GET""#, with: #""method": 7"#, maxReplacements: 1).utf8)
            .write(to: folder.appending(path: "b.har"))
        let result = try await har("inspect", "b.har")
        #expect(result.text.contains("entry 0 cannot be read: "))
        #expect(result.text.contains("1  GET     /a"))
    }

    @Test("inspect with an index shows one entry, and fails if the file has no such entry")
    func inspectEntry() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange(), Sample.exchange("PUT", body: #"{"n":1}"#))
        let result = try await har("inspect", "a.har", "1")
        #expect(result.status == 0)
        #expect(result.text.hasPrefix("PUT https://h.example/a\n"))
        #expect(result.text.hasSuffix("  {\"n\":1}\n"))
        let missing = try await har("inspect", "a.har", "2")
        #expect(
            missing == (2, "", "har: the file \"a.har\" has 2 entries, numbered from 0; it has no entry 2\n")
        )
    }

    @Test("view writes a page with the entries of a recording, without secrets")
    func view() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange("GET", "https://h.example/opensesame?token=hunter2"), Sample.exchange())
        let result = try await har(
            "view",
            "a.har",
            "--no-open",
            "-o",
            "a.html",
            "--secret",
            "KEY",
            environment: ["KEY": "opensesame"]
        )
        #expect(result.status == 0 && result.text.hasSuffix("a.html: 2 entries\n"))
        let page = try text("a.html")
        #expect(page.contains("h.example") && !page.contains("opensesame") && !page.contains("hunter2"))
        let other = try await har("view", "a.har", "--no-open")
        let place = try #require(other.text.split(separator: ":").first).description
        #expect(FileManager.default.fileExists(atPath: place))
        try FileManager.default.removeItem(atPath: place)
        #expect(try await har("view", "missing.har", "--no-open").status == 2)
    }

    @Test("validate exits with 1 and names the invalid entry, or with 0 if there is none")
    func validate() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange(), Sample.exchange())
        let good = try await har("validate", "a.har")
        #expect(good == (0, "a.har: valid, 2 entries\n", ""))
        try Data(text("a.har").replacing(#""size": 2"#, with: #""size": 3"#).utf8).write(
            to: folder.appending(path: "b.har")
        )
        let bad = try await har("validate", "a.har", "b.har")
        #expect(bad.status == 1)
        let finding = "contradiction: entry 1, response.content.size is 3, and the body has 2 bytes"
        #expect(bad.text.contains("b.har: \(finding)\n"))
    }

    @Test("redact writes to another file or in place, and refuses to guess which")
    func redact() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange("GET", "https://h.example/opensesame"))
        let before = try text("a.har")
        let first = try await har(
            "redact",
            "a.har",
            "-o",
            "b.har",
            "--secret",
            "KEY",
            environment: ["KEY": "opensesame"]
        )
        #expect(first == (0, "b.har: 1 entry changed\n", ""))
        #expect(try text("a.har") == before)
        #expect(try !text("b.har").contains("opensesame"))
        for both in [[], ["-o", "c.har", "--in-place"]] {
            let refused = try await HarCommand.run(["redact", "a.har"] + both, in: folder)
            #expect(refused.status == 64)
            #expect(refused.errors.contains("-o FILE, or replace the recording with --in-place"))
        }
        #expect(try text("a.har") == before)
        _ = try await har("redact", "a.har", "--in-place", "--secret", "KEY", environment: ["KEY": "opensesame"])
        #expect(try text("a.har") == text("b.har"))
    }

    @Test("redact fails and writes nothing if the environment variable of --secret is not set")
    func noSecret() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange())
        let result = try await har("redact", "a.har", "-o", "b.har", "--secret", "KEY")
        #expect(result.status != 0)
        #expect(result.errors.contains("the environment variable KEY has no value of 4 bytes or more"))
        #expect(throws: (any Error).self) { try text("b.har") }
    }

    @Test("merge combines several files into one")
    func merge() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange(after: 1))
        try write("b.har", Sample.exchange("PUT"))
        #expect(try await har("merge", "a.har", "b.har", "-o", "c.har") == (0, "c.har: 2 entries\n", ""))
        #expect(try HARFile(contentsOf: folder.appending(path: "c.har")).entry(at: 0).method == "PUT")
    }

    @Test("diff exits with 1 if the recordings differ, and with 0 otherwise")
    func diff() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange())
        try write("b.har", Sample.exchange { $0.response?.headers[.date] = "Sat, 21 Nov 2026 10:00:00 GMT" })
        #expect(try await har("diff", "a.har", "a.har") == (0, "", ""))
        let result = try await har("diff", "a.har", "b.har")
        #expect(result.status == 1)
        #expect(result.text.contains("~ entry 0 and 0 GET https://h.example/a\n    response field date: none → "))
        #expect(try await har("diff", "a.har", "b.har", "--ignore", "date") == (0, "", ""))
    }

    @Test("diff lists differing values of JSON bodies by path")
    func diffJSON() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange(body: #"{"items":[{"name":"a"}]}"#))
        try write("b.har", Sample.exchange(body: #"{"items":[{"name":"b"}],"next":2}"#))
        let result = try await har("diff", "a.har", "b.har")
        #expect(result.status == 1)
        #expect(result.text.contains("\n    response body $.items[0].name: \"a\" → \"b\"\n"))
        #expect(result.text.contains("\n    response body $.next: none → 2\n"))
    }

    @Test("A missing file prints one line to standard error and exits with 2", arguments: ["inspect", "redact"])
    func missing(command: String) async throws {
        try write("a.har")
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await HarCommand.run(
            [command, "none.har"] + (command == "redact" ? ["--in-place"] : []),
            in: folder
        )
        #expect(result.status == 2)
        #expect(result.text == "")
        #expect(result.errors.hasPrefix("har: ") && result.errors.contains("none.har"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }
}
