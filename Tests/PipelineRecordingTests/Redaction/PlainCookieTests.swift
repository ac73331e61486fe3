import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("F16 Everyday cookies in recordings", .watched)
struct PlainCookieTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    private final class Warnings: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private struct Recording: Transport {
        let recorder: Recorder
        let wrapped: ScriptedTransport
        var decodesContent: Bool { false }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            try await recorder.send(request, to: wrapped, context)
        }
    }

    /// Records a response that sets a cookie, and one that contains its value in another place.
    private func record(_ value: String, redactor: Redactor = .standard) async throws {
        let encoded = value.replacing(" ", with: "%20")
        let steps: [ScriptedTransport.Step] = [
            .status(200, headers: [.setCookie: "ui=\(encoded); Path=/"]), .status(200, body: "seen: \(value)."),
        ]
        try await bench.record(steps, redactor: redactor) { provider in
            for path in ["/a", "/b"] { _ = try await provider.request(bench.target(path)) }
        }
    }

    @Test(
        "F16 Words, time zones and dates in cookies are neither reported nor replaced elsewhere",
        arguments: [
            "dark-mode", "Europe/Berlin", "America/New_York", "America/North_Dakota/New_Salem",
            "America/Port-au-Prince",
            "20-Jun-2018", "20 Jun 2018 10:30", "June 20, 2018", "20.06.2018", "06/20/2018", "compact.view",
        ]
    )
    func plain(value: String) async throws {
        try await record(value)
        let provider = bench.provider(try ReplayTransport(bench.file))
        #expect(try await provider.request(bench.target("/b")).data == Data("seen: \(value).".utf8))
        #expect(RecordingCheck.findings(of: bench.file) == [])
    }

    @Test(
        "F16 Four joined words, joined tokens and words in a header field count as secret",
        arguments: ["lusab-babad-gutih-tugad", "abc1-def2-ghi3-jkl4", "correct-Horse-BaTTery"]
    )
    func secret(value: String) async throws {
        try await record(value)
        #expect(bench.text.contains("seen: REDACTED."))
        let request = try PipelineRequest(
            url: "https://h.example/",
            headers: [.authorization: "Bearer correct-horse-battery"]
        )
        #expect(RecordingRedaction(.standard).secrets(of: request).replaced == ["correct-horse-battery"])
    }

    @Test("F16 A value that is left is an error that names its cookie, the entry and the member, but not the value")
    func named() async throws {
        let error = await #expect(throws: PipelineError.self) { try await record("a1b2c3d4e5") }
        #expect(error?.code == .recording(.secret))
        let reason = try #require(error?.reason)
        #expect(reason.contains("cookie \"ui\" is left in entry 1 (response.content.text) of \"api.har\""))
        #expect(!reason.contains("a1b2c3d4e5"))
        let findings = RecordingCheck.findings(of: bench.file).map(\.description)
        #expect(findings == [])
        #expect(throws: Never.self) { try HARFile(contentsOf: bench.file) }
    }

    @Test("F16 har redact and har validate name the cookie of an unredacted recording, the entry and the member")
    func tool() throws {
        var file = HARFile()
        file.append(HAREntry(Sample.exchange { $0.request.headers[.cookie] = "a=1; ui=a1b2c3d4e5" }))
        file.append(HAREntry(Sample.exchange("GET", "https://h.example/a1b2c3d4e5")))
        try file.write(to: bench.file)
        let place = "entry 1, request.url holds the value of the cookie \"ui\", of 8 to 15 bytes"
        let lines = try HARTool().findings(in: bench.file, named: "x")
        #expect(lines.lines.count == 1 && lines.lines[0].contains(place) && !lines.isValid)
        let output = bench.folder.appending(path: "b.har")
        let error = #expect(throws: PipelineError.self) { try HARTool().redact(bench.file, to: output) }
        #expect(error?.reason.contains("the cookie \"ui\" is left in entry 1 (request.url) of \"b.har\"") == true)
        let tool = HARTool(redactor: .standard.adding(plainNames: ["UI"]))
        #expect(try tool.redact(bench.file, to: output).warnings == [])
        #expect(try tool.findings(in: bench.file, named: "x").isValid)
    }

    @Test(
        "F16 Names and values that are declared as plain are neither reported nor replaced",
        arguments: ["a1b2c3d4e5", "a1b2c3d4e5f6a7b8c9"]
    )
    func declared(value: String) async throws {
        for redactor in [Redactor.standard.adding(plainNames: ["ui"]), .standard.adding(plainValues: [value])] {
            try await record(value, redactor: redactor)
            #expect(bench.text.contains("seen: \(value)."))
            #expect(bench.text.contains("ui=REDACTED"))
        }
        let other = Redactor.standard.adding(plainNames: ["vi"], plainValues: ["a1b2c3d4e"])
        do { try await record(value, redactor: other) } catch let error as PipelineError {
            #expect(error.code == .recording(.secret))
            return
        }
        #expect(bench.text.contains("seen: REDACTED."))
    }

    @Test("F16 A left value that does not mix digits and letters is a warning that names its cookie")
    func warning() async throws {
        let warnings = Warnings()
        let output = RecordingOutput(
            file: bench.file,
            journal: try HARJournal(for: bench.file),
            redaction: RecordingRedaction(.standard),
            warn: { warnings.add($0) }
        )
        let recorder = Recorder(output, byteLimit: 100)
        let transport = ScriptedTransport([
            .status(200, headers: [.setCookie: "ui=dark|mode|on"]), .status(200, body: "dark|mode|on"),
        ])
        let provider = bench.provider(Recording(recorder: recorder, wrapped: transport))
        for _ in 0..<2 { _ = try await provider.request(bench.target()) }
        try await recorder.finish()
        #expect(warnings.all.count == 1)
        #expect(warnings.all.first?.contains("cookie \"ui\" is left in entry 1 (response.content.text)") == true)

        var file = HARFile()
        file.append(HAREntry(Sample.exchange(body: "dark|mode|on") { $0.request.headers[.cookie] = "ui=dark|mode|on" }))
        try file.write(to: bench.file)
        let result = try HARTool().findings(in: bench.file, named: "x")
        #expect(result.isValid)
        #expect(result.lines.first?.hasPrefix("x: warning: entry 0, response.content.text holds") == true)
        #expect(try HARTool().redact(bench.file, to: bench.file).warnings.count == 1)
    }
}
