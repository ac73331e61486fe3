import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Redacting a recording", .watched)
struct RedactedRecordingTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "redact-\(UUID())")
    private var url: URL { folder.appending(path: "a.har") }

    private static let token = "2YotnFZFEjr1zCsicMWpAA"

    private func write(_ entries: [HAREntry]) throws -> HARFile {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var file = HARFile()
        for entry in entries { file.append(entry) }
        try file.write(to: url)
        return try HARFile(contentsOf: url)
    }

    private static let secret = HAREntry(
        Sample.exchange(
            "GET",
            "https://u:p4ssw0rd@h.example/a?access_token=\(token)&page=2",
            body: #"{"echo":"\#(token)"}"#
        ) {
            $0.request.headers[.authorization] = "Bearer " + token
        }
    )

    private static let plain = HAREntry(Sample.exchange("GET", "https://h.example/b"))

    @Test("Secrets of a request are hidden everywhere, including in other entries")
    func everywhere() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let echo = HAREntry(Sample.exchange("GET", "https://h.example/\(Self.token)", body: #"["\#(Self.token)"]"#))
        let recording = RedactedRecording(try write([echo, Self.secret, Self.plain]), RecordingRedaction(.standard))
        #expect(try recording.write(to: url).changeCount == 2)
        let text = try String(contentsOf: url, encoding: .utf8)
        #expect(!text.contains(Self.token))
        #expect(!text.contains("p4ssw0rd"))
        #expect(text.contains("page=2"))
        #expect(RecordingCheck.findings(of: url) == [])
    }

    @Test("Members outside the entries are redacted too, and entries without secrets keep every byte")
    func pages() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var file = try write([Self.plain, Self.secret])
        var log = file.log
        log["pages"] = .array([
            .object([
                "title": .string("https://h.example/?access_token=t0ken&a=1"), "id": .string("1"),
                "startedDateTime": .string("2026-01-01T00:00:00.000Z"), "pageTimings": .object([:]),
            ])
        ])
        log["_note"] = .string("see \(Self.token)")
        file.replaceLog(with: log)
        try file.write(to: url)
        let before = try String(contentsOf: url, encoding: .utf8)
        #expect(before.contains("t0ken"))
        #expect(try HARFile(contentsOf: url).log == log)
        #expect(
            try RedactedRecording(try HARFile(contentsOf: url), RecordingRedaction(.standard)).write(to: url)
                .changeCount == 1
        )
        let after = try String(contentsOf: url, encoding: .utf8)
        #expect(!after.contains("t0ken"))
        #expect(!after.contains(Self.token))
        #expect(after.contains("a=1"))
        let plain = try HARFile(contentsOf: url).entry(at: 0)
        #expect(plain.json.data() == (try file.entry(at: 0).json.data()))
        #expect(RecordingCheck.findings(of: url) == [])
    }

    @Test("F14 har redact hides named secrets in fields, queries, forms, JSON, XML and text, but not token_type")
    func names() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let types = ["application/x-www-form-urlencoded", "application/json", "text/xml", "text/plain"]
        let bodies = [
            "code=canary&key=canary&token_type=Bearer",
            #"{"sig":"canary","device_code":"canary","token_type":"Bearer"}"#,
            "<a><password>canary</password><token_type>Bearer</token_type></a>", "psw: canary\ntoken_type: Bearer",
        ]
        let entries = zip(types, bodies).map { type, body in
            HAREntry(
                Sample.exchange(
                    "POST",
                    "https://h.example/a?sig=canary&subscription-key=canary&code=canary",
                    body: body
                ) {
                    $0.request.headers = [.contentType: type, .cookie: "PHPSESSID=canary"]
                    if let name = HTTPField.Name("X-Functions-Key") { $0.request.headers[name] = "canary" }
                    $0.request.body = Data(body.utf8)
                    $0.response?.headers[.contentType] = type
                }
            )
        }
        _ = try RedactedRecording(try write(entries), RecordingRedaction(.standard)).write(to: url)
        let text = try String(contentsOf: url, encoding: .utf8)
        #expect(!text.contains("canary"))
        #expect(text.components(separatedBy: "Bearer").count == 9)
    }

    @Test("The value of a secret query item is hidden everywhere")
    func query() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let asked = HAREntry(Sample.exchange("GET", "https://h.example/a?access_token=\(Self.token)"))
        let echo = HAREntry(Sample.exchange("GET", "https://h.example/b", body: Self.token))
        _ = try RedactedRecording(try write([asked, echo]), RecordingRedaction(.standard)).write(to: url)
        #expect(try !String(contentsOf: url, encoding: .utf8).contains(Self.token))
    }

    @Test(
        "Files that a recording merely names are never removed",
        arguments: ["../precious", "precious", "a-files/precious", "a-files/../../precious"]
    )
    func hostile(path: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let entry = HAREntry(
            json: .object([
                "request": .object([
                    "method": .string("GET"), "url": .string("https://h.example/?token=secret"),
                ]),
                "response": .object([
                    "status": .integer(0), "_error": .string("x"), "content": .object(["_file": .string(path)]),
                ]),
            ])
        )
        let sub = folder.appending(path: "sub")
        let precious = sub.appending(path: path).standardizedFileURL
        try FileManager.default.createDirectory(
            at: precious.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: true)
        try Data("kept".utf8).write(to: precious)
        let url = sub.appending(path: "a.har")
        var file = HARFile()
        file.append(entry)
        try file.write(to: url)
        _ = try? RedactedRecording(try HARFile(contentsOf: url), RecordingRedaction(.standard)).write(to: url)
        #expect(FileManager.default.fileExists(atPath: precious.path))
    }

    @Test("Declared values are hidden too")
    func declared() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let redaction = RecordingRedaction(Redactor(secretValues: ["example/b"]))
        #expect(try RedactedRecording(try write([Self.plain]), redaction).write(to: url).changeCount == 1)
        #expect(try !String(contentsOf: url, encoding: .utf8).contains("example/b"))
    }

    @Test("A recording without secrets keeps every byte, and redacting twice changes nothing more")
    func unchanged() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try write([Self.plain])
        let before = try Data(contentsOf: url)
        #expect(try RedactedRecording(file, RecordingRedaction(.standard)).write(to: url).changeCount == 0)
        #expect(try Data(contentsOf: url) == before)

        _ = try RedactedRecording(try write([Self.plain, Self.secret]), RecordingRedaction(.standard)).write(to: url)
        let once = try Data(contentsOf: url)
        #expect(
            try RedactedRecording(HARFile(contentsOf: url), RecordingRedaction(.standard)).write(to: url).changeCount
                == 0
        )
        #expect(try Data(contentsOf: url) == once)
    }

    @Test("The result can be written to another file, which leaves the original unchanged")
    func elsewhere() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try write([Self.secret])
        let before = try Data(contentsOf: url)
        let output = folder.appending(path: "b.har")
        _ = try RedactedRecording(file, RecordingRedaction(.standard)).write(to: output)
        #expect(try Data(contentsOf: url) == before)
        #expect(try !String(contentsOf: output, encoding: .utf8).contains(Self.token))
    }

    @Test("Side files are redacted, and the originals with secrets are removed")
    func sideFiles() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let body = #"{"password":"\#(Self.token)","n":"\#(String(repeating: "0123456789", count: 200_000))"}"#
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let entry = try HARSideFiles(for: url).moveBodies(of: HAREntry(Sample.exchange(body: body)))
        let old = folder.appending(path: try #require(entry.sideFiles.first))
        let recording = RedactedRecording(try write([entry]), RecordingRedaction(.standard))
        #expect(FileManager.default.fileExists(atPath: old.path))
        #expect(try recording.write(to: url).changeCount == 1)
        #expect(!FileManager.default.fileExists(atPath: old.path))
        let shown = try HARFile(contentsOf: url).exchange(at: 0).response?.body ?? Data()
        #expect(shown.count > 2_000_000)
        #expect(!String(decoding: shown, as: UTF8.self).contains(Self.token))
    }
}
