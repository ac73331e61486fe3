import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("F13 Recordings replay", .watched)
struct RecordingReplayPropertyTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    private func send(_ requests: [RecordedLogin.Request], to transport: any Transport) async throws -> [String] {
        var answers: [String] = []
        for request in requests {
            let provider = bench.provider(transport) { try request.apply(to: &$0) }
            do {
                answers.append(String(decoding: try await provider.request(bench.target()).data, as: UTF8.self))
            } catch let error as PipelineError {
                answers.append(error.description)
            }
        }
        return answers
    }

    private func record(_ login: RecordedLogin) async throws -> PipelineError? {
        let requests = login.requests(session: login.secret)
        let steps = requests.map { request -> ScriptedTransport.Step in
            .status(200, headers: request.marker == "login" ? login.response : [:], body: request.marker)
        }
        let transport = try RecordingTransport(bench.file, wrapping: ScriptedTransport(steps), mode: .recordAll)
        #expect(try await send(requests, to: transport) == requests.map(\.marker))
        do { try await transport.finish() } catch let error as PipelineError { return error }
        return nil
    }

    @Test(
        "F13 a recorded login matches its requests with the original or replayed session and gains no entry",
        arguments: RecordedLogin.Kind.allCases,
        1...12
    )
    func logins(kind: RecordedLogin.Kind, seed: Int) async throws {
        var random = PipelineRandom.seeded(UInt64(seed * 100))
        let login = RecordedLogin(kind, &random)
        let error = try await record(login)
        let requests = login.requests(session: login.secret)
        let isLeft = kind == .short && requests.contains(where: \.isElsewhere)
        #expect(error?.code == (isLeft ? .recording(.secret) : nil), "\(error?.reason ?? "")")
        #expect(error?.reason.contains(login.secret) != true)
        if login.isReplaced {
            #expect(!Redactor(secretValues: [login.secret]).containsSecret(in: bench.text.utf8))
        }
        // The same values.
        let replay = try ReplayTransport(bench.file)
        #expect(try await send(requests, to: replay) == requests.map(\.marker))
        try replay.recording.assertAllUsed()
        // The values that a client finds in the replayed response.
        let replayed = login.requests(session: "REDACTED")
        #expect(try await send(replayed, to: ReplayTransport(bench.file)) == requests.map(\.marker))
        // A later run.
        let before = bench.text
        let closed = try bench.closed(.recordNew)
        #expect(try await send(requests, to: closed) == requests.map(\.marker))
        try await closed.finish()
        #expect(bench.text == before)
    }

    @Test("F13 recordNew adds a request only once, even if its redacted entry does not match it")
    func addedOnce() async throws {
        // The number becomes 0 because of the cookie that the response sets.
        let headers: HTTPFields = [.setCookie: "sid=4711471147114711"]
        for _ in 0..<3 {
            let transport = try RecordingTransport(
                bench.file,
                wrapping: ScriptedTransport(always: .status(200, headers: headers, body: "ok")),
                mode: .recordNew
            )
            let provider = bench.provider(transport) { request in
                request.method = .post
                request.headers[.contentType] = "application/json"
                request.body = .bytes(Data("{\"n\": 4711471147114711}".utf8))
            }
            _ = try await provider.request(bench.target())
            try await transport.finish()
            #expect(try HARFile(contentsOf: bench.file).count == 1)
        }
    }

    @Test("F13 journal entries that the file holds with more redacted are not added again")
    func journal() async throws {
        let token = "2YotnFZFEjr1zCsicMWpAA"
        let steps: [ScriptedTransport.Step] = [.status(200, body: token), .status(200)]
        let transport = try RecordingTransport(bench.file, wrapping: ScriptedTransport(steps), mode: .recordAll)
        _ = try await bench.provider(transport).request(bench.target("/s/\(token)"))
        let provider = bench.provider(transport) { $0.headers[.authorization] = "Bearer \(token)" }
        _ = try await provider.request(bench.target("/b"))
        let left = await bench.journal(until: "/b\"")
        try await transport.finish()
        #expect(!bench.text.contains(token))
        try Data(left.utf8).write(to: bench.journalFile)
        try await RecordingTransport(bench.file, wrapping: RecordingBench.forbidden, mode: .recordNew).finish()
        #expect(try HARFile(contentsOf: bench.file).count == 2)
    }

    // MARK: Recordings in clear

    private func writeClear(_ secret: String, path: String) throws {
        var file = HARFile()
        let headers: HTTPFields = [.cookie: "sid=\(secret)", .authorization: "Bearer \(secret)"]
        for (path, text) in [(path, "own"), ("/other/x", "other")] {
            let request = RecordedExchange.Request(method: "GET", url: "https://api.example\(path)", headers: headers)
            file.append(
                HAREntry(RecordedExchange(request: request, response: .init(status: 200, body: Data(text.utf8))))
            )
        }
        try file.write(to: bench.file)
    }

    @Test(
        "F13 a live request whose secrets are also in its URL matches its own clear-text entry",
        arguments: [
            "0123456789abcdef0123", "api.example", "2026-11-21T02:12:26Z", "dashboards", "a1b2c3d4e5", "s3cr",
        ]
    )
    func clear(secret: String) async throws {
        try writeClear(secret, path: "/s/\(secret)/a?ref=\(secret)")
        let provider = bench.provider(try ReplayTransport(bench.file)) { request in
            request.headers[.cookie] = "sid=\(secret)"
            try request.setHeader("Bearer \(secret)", for: .authorization)
            request.appendQuery("ref=\(secret)")
        }
        let response = try await provider.request(bench.target("/s/\(secret)/a"))
        #expect(String(decoding: response.data, as: UTF8.self) == "own")
    }

    @Test(
        "F13 a mismatch shows no secret of the request or of the entries, however short",
        arguments: ["0123456789abcdef0123", "canary-of", "canaryof", "can4"]
    )
    func mismatch(secret: String) async throws {
        try writeClear("recorded-\(secret)", path: "/s/recorded-\(secret)/a")
        let provider = bench.provider(try ReplayTransport(bench.file)) { request in
            request.headers[.cookie] = "sid=\(secret)"
            request.appendQuery("ref=\(secret)")
        }
        let failure = try #require(try await provider.failure(bench.target("/s/\(secret)/b")))
        #expect(failure.code == .noMatch)
        var dumped = ""
        dump(failure, to: &dumped)
        for text in [failure.reason, failure.description, dumped] { #expect(!text.contains(secret)) }
        #expect(failure.reason.contains("path differs (sent \"/s/REDACTED/b\", recorded \"/s/REDACTED/a\")"))
    }

    @Test(
        "F13 values are replaced within the parts of a URL, but never in its scheme, host or slashes",
        arguments: [
            ("https://s3cretvalue.example/a/s3cretvalue", "https://s3cretvalue.example/a/REDACTED"),
            ("https://h/s3cretvalue-1/b?x=s3cretvalue", "https://h/REDACTED-1/b?x=REDACTED"),
            ("https://h/ab/cd/ef", "https://h/REDACTED/REDACTED/ef"), ("https://h/ab%2Fcd/ef", "https://h/REDACTED/ef"),
            ("https://h/a?x=one&two", "https://h/a?x=REDACTED&REDACTED"), ("https://ab/cd", "https://ab/REDACTED"),
            ("/ab/cd?q#s3cretvalue", "/REDACTED/REDACTED?q#REDACTED"), ("//s3cretvalue/x", "//s3cretvalue/x"),
            ("http://h/http/x", "http://h/REDACTED/x"),
        ]
    )
    func parts(url: String, expected: String) {
        let redaction = RecordingRedaction(Redactor(secretValues: ["s3cretvalue", "ab/cd", "one&two", "http"]))
        let shown = redaction.url(url)
        #expect(shown == expected)
        #expect(redaction.url(shown) == shown)
    }
}
