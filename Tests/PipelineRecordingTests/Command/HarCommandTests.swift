import Foundation
import HTTPTypes
import PipelineRecording
import Testing

@testable import PipelineRecording

@Suite("The command har", .serialized, .timeLimit(.minutes(10)))
struct HarCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "har-\(UUID())")

    /// Runs the command in the folder; the executable stands beside the tests, or above them.
    private func har(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> (status: Int32, text: String) {
        var place = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        while !FileManager.default.isExecutableFile(atPath: place.appending(path: "har").path), place.path.count > 1 {
            place.deleteLastPathComponent()
        }
        let process = Process()
        let output = Pipe()
        process.executableURL = place.appending(path: "har")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let (events, ended) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { ended.yield($0.terminationStatus) }
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        let status = await events.first { _ in true }
        return (try #require(status), String(decoding: data, as: UTF8.self))
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
        #expect(result.text.contains("0  GET     https://h.example/…?q=…"))
        #expect(result.text.contains("█"))
        #expect(try await !har("inspect", "a.har", "--no-waterfall").text.contains("█"))
    }

    @Test("inspect shows the good entries of a file, and says which are bad")
    func inspectBad() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange(), Sample.exchange())
        try Data(text("a.har").replacing(#""method": "GET""#, with: #""method": 7"#, maxReplacements: 1).utf8)
            .write(to: folder.appending(path: "b.har"))
        let result = try await har("inspect", "b.har")
        #expect(result.text.contains("entry 0 cannot be read: "))
        #expect(result.text.contains("1  GET     https://h.example/a"))
    }

    @Test("validate ends with 1 and the index of the entry when something is wrong, else with 0")
    func validate() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange(), Sample.exchange())
        let good = try await har("validate", "a.har")
        #expect(good == (0, ""))
        try Data(text("a.har").replacing(#""size": 2"#, with: #""size": 3"#).utf8).write(
            to: folder.appending(path: "b.har")
        )
        let bad = try await har("validate", "a.har", "b.har")
        #expect(bad.status == 1)
        #expect(bad.text.contains("b.har: M entry 1, response.content.size is 3, and the body has 2 bytes\n"))
    }

    @Test("redact writes to another file or in place")
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
        #expect(first == (0, "1 entries changed in b.har\n"))
        #expect(try text("a.har") == before)
        #expect(try !text("b.har").contains("opensesame"))
        _ = try await har("redact", "a.har", "--secret", "KEY", environment: ["KEY": "opensesame"])
        #expect(try text("a.har") == text("b.har"))
    }

    @Test("A secret that is not there is an error, and nothing is written")
    func noSecret() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange())
        let result = try await har("redact", "a.har", "-o", "b.har", "--secret", "KEY")
        #expect(result.status != 0)
        #expect(result.text.contains("KEY holds no value of 4 bytes or more"))
        #expect(throws: (any Error).self) { try text("b.har") }
    }

    @Test("merge makes one file of several")
    func merge() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange(after: 1))
        try write("b.har", Sample.exchange("PUT"))
        #expect(try await har("merge", "a.har", "b.har", "-o", "c.har") == (0, "2 entries in c.har\n"))
        #expect(try HARFile(contentsOf: folder.appending(path: "c.har")).entry(at: 0).method == "PUT")
    }

    @Test("diff ends with 1 when recordings differ, else with 0")
    func diff() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try write("a.har", Sample.exchange())
        try write("b.har", Sample.exchange { $0.response?.headers[.date] = "Sat, 21 Nov 2026 10:00:00 GMT" })
        #expect(try await har("diff", "a.har", "a.har") == (0, ""))
        let result = try await har("diff", "a.har", "b.har")
        #expect(result.status == 1)
        #expect(result.text.contains("~ entry 0 and 0 GET https://h.example/a\n    response field date: none → "))
        #expect(try await har("diff", "a.har", "b.har", "--ignore", "date") == (0, ""))
    }

    @Test("A file that is not there is an error of one line", arguments: ["inspect", "redact"])
    func missing(command: String) async throws {
        try write("a.har")
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await har(command, "none.har")
        #expect(result.status != 0)
        #expect(result.text.contains("none.har"))
    }
}
