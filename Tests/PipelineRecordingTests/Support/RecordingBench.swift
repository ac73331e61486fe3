import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

/// A temporary folder, a clock, and transports that record to a file in the folder.
final class RecordingBench: Sendable {
    let folder: URL
    let file: URL
    let clock = ManualClock()
    let base: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appending(path: "api.har", directoryHint: .notDirectory)
        base = try #require(URL(string: "https://api.example"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The names of the files in the folder.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

    var text: String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    var journalFile: URL { folder.appending(path: "api.har.journal", directoryHint: .notDirectory) }

    /// Waits until the journal, which a recorder writes asynchronously, contains a text, and returns the journal.
    func journal(until text: String) async -> String {
        var journal = ""
        await eventually {
            journal = (try? String(contentsOf: journalFile, encoding: .utf8)) ?? ""
            return journal.contains(text) && journal.hasSuffix("\n")
        }
        return journal
    }

    func target(_ path: String = "/", method: HTTPRequest.Method = .get, task: RequestTask = .requestPlain) -> Probe {
        Probe(base, path, method: method, task: task)
    }

    func provider(
        _ transport: any Transport,
        redirects: RedirectPolicy = .never,
        prepare: @escaping @Sendable (inout PipelineRequest) throws -> Void = { _ in }
    ) -> Provider<Probe> {
        Provider(
            transport: transport,
            plugins: [.prepare { request, _ in try prepare(&request) }],
            configuration: .init(redirects: redirects, clock: clock)
        )
    }

    /// Records these requests and writes the file.
    func record(
        _ steps: [ScriptedTransport.Step],
        mode: RecordingMode = .recordAll,
        redactor: Redactor = .standard,
        decodesContent: Bool = false,
        requests: (Provider<Probe>) async throws -> Void
    ) async throws {
        let transport = try RecordingTransport(
            file,
            wrapping: ScriptedTransport(steps, decodesContent: decodesContent),
            mode: mode,
            redactor: redactor
        )
        try await requests(provider(transport))
        try await transport.finish()
    }

    /// Returns a transport in this mode whose wrapped transport must not be called.
    func closed(_ mode: RecordingMode, matching: RequestMatching = .standard) throws -> RecordingTransport {
        try RecordingTransport(file, wrapping: Self.forbidden, mode: mode, matching: matching)
    }

    static let forbidden = ScriptedTransport(
        always: .answer { request, _ in
            Issue.record("\(request) was sent to the network")
            throw PipelineError(.transport, "sent")
        }
    )

    func write(_ text: String) throws { try Data(text.utf8).write(to: file) }

    /// Writes a file of entries, each with a text as its response body.
    func write(entries: [(method: String, url: String, text: String)], started: String = "2026-01-01T00:00:00Z") throws
    {
        let list = entries.map { entry in
            """
            {"startedDateTime": "\(started)", "time": 1, "cache": {}, "timings": {},
             "request": {"method": "\(entry.method)", "url": "\(entry.url)", "headers": []},
             "response": {"status": 200, "headers": [], "content": {"text": "\(entry.text)", "mimeType": "text/plain"}}}
            """
        }
        try write("{\"log\": {\"version\": \"1.2\", \"entries\": [\(list.joined(separator: ","))]}}")
    }
}

extension PipelineError.Code {
    static let noMatch = Self.recording(.noMatch)
    static let usedUp = Self.recording(.usedUp)
}
