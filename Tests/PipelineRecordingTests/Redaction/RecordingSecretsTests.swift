import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Secrets in recordings", .watched)
struct RecordingSecretsTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    /// One canary for each place in which a secret can appear.
    private static let places = [
        "authorization", "cookie", "api-key-field", "marked-field", "query", "query-key", "json-password",
        "json-nested",
        "form", "multipart", "set-cookie", "location", "referer", "answer-json", "answer-gzip", "answer-binary",
        "declared", "failure", "proxy",
    ]

    private static func canary(_ place: String) -> String { "canary-of-\(place)-xyz" }

    private static func prepare(_ request: inout PipelineRequest) throws {
        try request.setHeader("Bearer " + canary("authorization"), for: .authorization)
        try request.setHeader(
            "Basic " + Data("u:\(canary("proxy"))".utf8).base64EncodedString(),
            for: .proxyAuthorization
        )
        try request.setHeader("a=\(canary("cookie")); b=short", for: .cookie)
        for (name, place, isSecret) in [("X-Api-Key", "api-key-field", false), ("X-Plain", "marked-field", true)] {
            guard let name = HTTPField.Name(name) else { continue }
            try request.setHeader(canary(place), for: name, isSecret: isSecret)
        }
        try request.setHeader("https://h/?token=\(canary("referer"))", for: .referer)
        request.appendQuery("token=\(canary("query"))&api_key=\(canary("query-key"))")
        switch request.path {
        case "/json":
            request.headers[.contentType] = "application/json"
            let nested =
                "{\"a\":{\"access_token\":[\"\(canary("json-nested"))\"]},\"password\":\"\(canary("json-password"))\"}"
            request.body = .bytes(Data(nested.utf8))
        case "/form":
            request.headers[.contentType] = "application/x-www-form-urlencoded"
            request.body = .bytes(Data("password=\(canary("form"))&x=1".utf8))
        case "/multipart":
            request.headers[.contentType] = "multipart/form-data; boundary=b"
            let head = "--b\r\nContent-Disposition: form-data; name=\"client_secret\"\r\n\r\n"
            request.body = .bytes(Data("\(head)\(canary("multipart"))\r\n--b--\r\n".utf8))
        default: break
        }
    }

    private static let answers: [String: ScriptedTransport.Step] = {
        let json = Data("{\"refresh_token\":\"\(canary("answer-gzip"))\"}".utf8)
        return [
            "/json": .status(
                302,
                headers: [
                    .setCookie: "s=\(canary("set-cookie")); Path=/", .location: "/b?token=\(canary("location"))",
                ],
                body: "echo \(canary("authorization")) \(canary("cookie")) \(canary("set-cookie")) \(canary("proxy"))"
            ),
            "/form": .status(
                200,
                headers: [.contentType: "application/json"],
                body: "{\"jwt\":\"\(canary("answer-json"))\"}"
            ),
            "/multipart": .status(
                200,
                headers: [.contentType: "application/json", .contentEncoding: "gzip"],
                body: .bytes(Deflate.gzip(json))
            ),
            "/declared": .status(
                200,
                headers: [.contentType: "image/png"],
                body: .bytes(Data([0xff]) + Data("\(canary("declared"))\(canary("query"))".utf8))
            ),
            "/failure": .failure(PipelineError(.transport, "at https://h/?token=\(canary("failure"))&x=1")),
        ]
    }()

    private let redactor = Redactor(secretValues: [canary("declared")])

    private func record() async throws {
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport { request, _ in Self.answers[request.path] ?? .status(404) },
            mode: .recordAll,
            redactor: redactor
        )
        let provider = bench.provider(transport, prepare: Self.prepare)
        for path in Self.answers.keys.sorted() {
            do { _ = try await provider.request(bench.target(path, method: .post)) } catch is PipelineError {}
        }
        // The journal is written in a lane of its own.
        try await transport.recorder?.journal.lane.complete {}
        let journal = try String(contentsOf: bench.folder.appending(path: "api.har.journal"), encoding: .utf8)
        #expect(journal.contains("REDACTED"))
        try expectNoCanary(in: journal)
        try await transport.finish()
    }

    private func expectNoCanary(in text: String) throws {
        for place in Self.places {
            #expect(!text.contains(Self.canary(place)), "the canary of \(place) is there")
            let redactor = Redactor(secretValues: [Self.canary(place)])
            #expect(!redactor.containsSecret(in: text.utf8), "the canary of \(place) is there in another form")
        }
    }

    @Test("F06 neither the file nor its journal contains a canary of any place")
    func file() async throws {
        try await record()
        #expect(try ReplayTransport(bench.file).recording.entries.count == 5)
        try expectNoCanary(in: bench.text)
    }

    @Test("F06 no error, description or dump contains a canary, and the live requests still match")
    func errors() async throws {
        try await record()
        let replay = try ReplayTransport(bench.file, redactor: redactor)
        let provider = bench.provider(replay, prepare: Self.prepare)
        var texts: [String] = []
        for path in Self.answers.keys.sorted() {
            let target = bench.target(path, method: .post)
            do {
                let response = try await provider.request(target)
                texts += [response.description, String(decoding: response.data, as: UTF8.self), "\(response.headers)"]
            } catch let error as PipelineError {
                #expect(error.code == .transport)
                texts.append(error.reason)
            }
            let failure = try #require(try await provider.failure(target))
            #expect(failure.code == .usedUp)
            texts += [failure.description, failure.reason]
        }
        try replay.recording.assertAllUsed()
        let declared = try #require(
            try await provider.failure(bench.target("/\(Self.canary("declared"))", method: .put))
        )
        #expect(declared.code == .noMatch)
        // The description of an error shows the path unredacted, because it does not know the transport's redactor.
        texts.append(declared.reason)
        let miss = try #require(try await provider.failure(bench.target("/nowhere", method: .put)))
        #expect(miss.code == .noMatch)
        texts += [miss.reason, miss.description, "\(replay)", "\(replay.recording)"]
        var dumped = ""
        dump(miss, to: &dumped)
        dump(replay, to: &dumped)
        dump(replay.recording, to: &dumped)
        try expectNoCanary(in: texts.joined(separator: "\n") + dumped)
    }

    @Test("a live request matches even if its secrets differ")
    func otherSecrets() async throws {
        try await record()
        let provider = bench.provider(try ReplayTransport(bench.file)) { request in
            request.appendQuery("token=other-token&api_key=other-key")
            try request.setHeader("Bearer other-bearer", for: .authorization)
            request.headers[.contentType] = "application/x-www-form-urlencoded"
            request.body = .bytes(Data("password=another&x=1".utf8))
        }
        #expect(try await provider.failureCode(bench.target("/form", method: .post)) == nil)
    }

    @Test("query items that a request marks as secret are hidden, and a request with other values matches")
    func markedQuery() async throws {
        let values = ["canary/4711+first", "canary/4711+other"]
        func mark(_ value: String) -> @Sendable (inout PipelineRequest) throws -> Void {
            { request in
                request.appendQuery("page=1&check=" + value.replacing("/", with: "%2F").replacing("+", with: "%2B"))
                request.secretQueryNames = ["check"]
            }
        }
        let answer = ScriptedTransport(always: .status(200, body: "{\"seen\": \"\(values[0])\"}"))
        let transport = try RecordingTransport(bench.file, wrapping: answer, mode: .recordAll)
        _ = try await bench.provider(transport, prepare: mark(values[0])).request(bench.target("/signed"))
        try await transport.finish()
        #expect(bench.text.contains("page=1&check="))
        #expect(!bench.text.contains("4711"))
        for value in values {
            let provider = bench.provider(try ReplayTransport(bench.file), prepare: mark(value))
            #expect(try await provider.failureCode(bench.target("/signed")) == nil)
        }
    }

    @Test("a recording with its secrets in clear text also matches")
    func clearRecording() async throws {
        try bench.write(entries: [("GET", "https://api.example/?token=clear-text&x=1", "ok")])
        let provider = bench.provider(try ReplayTransport(bench.file)) { $0.appendQuery("x=1&token=another") }
        #expect(try await provider.failureCode(bench.target()) == nil)
    }

    @Test("a secret learned from a later request is also hidden in earlier entries")
    func learnedLater() async throws {
        let steps: [ScriptedTransport.Step] = [.status(200, body: "{\"id\": \"learned-later-01\"}"), .status(200)]
        let transport = try RecordingTransport(bench.file, wrapping: ScriptedTransport(steps), mode: .recordAll)
        _ = try await bench.provider(transport).request(bench.target("/login"))
        let provider = bench.provider(transport) { $0.headers[.authorization] = "Bearer learned-later-01" }
        _ = try await provider.request(bench.target("/use"))
        try await transport.finish()
        #expect(bench.text.contains("/login"))
        #expect(!bench.text.contains("learned-later-01"))
    }

    @Test("finish() throws recording.secret if the file still contains a declared value")
    func found() async throws {
        try bench.write(entries: [("GET", "https://api.example/old", "declared-value")])
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport(always: .status(200)),
            mode: .recordNew,
            redactor: Redactor(secretValues: ["declared-value"])
        )
        _ = try await bench.provider(transport).request(bench.target("/new"))
        let error = await #expect(throws: PipelineError.self) { try await transport.finish() }
        #expect(error?.code == .recording(.secret))
        #expect(error?.reason.contains("declared-value") == false)
    }

    @Test("the secrets of a body in another charset, and of one that breaks off inside a character, are not recorded")
    func charsets() async throws {
        let latin1 = Data("<a><password>canary</password><n>Jos".utf8) + [0xe9] + Data("</n></a>".utf8)
        let cut = Data(#"{"access_token":"canary","n":"Jos"#.utf8) + [0xc3]
        let steps: [ScriptedTransport.Step] = [
            .status(200, headers: [.contentType: "text/xml; charset=ISO-8859-1"], body: .bytes(latin1)),
            .status(200, headers: [.contentType: "application/json"], body: .bytes(cut)),
        ]
        try await bench.record(steps) { provider in
            for path in ["/a", "/b"] { _ = try await provider.request(bench.target(path)) }
        }
        let replay = bench.provider(try bench.closed(.replayOnly))
        let (first, second) = (bench.target("/a"), bench.target("/b"))
        let shown = Data("<a><password>REDACTED</password><n>Jos".utf8) + [0xe9] + Data("</n></a>".utf8)
        #expect(try await replay.request(first).data == shown)
        #expect(try await replay.request(second).data == Data(#"{"access_token":"REDACTED","n":"Jos"#.utf8) + [0xc3])
    }

    @Test("a secret number becomes 0, so that the JSON stays valid")
    func digits() async throws {
        let redactor = Redactor(secretValues: ["4711471147114711"])
        let steps: [ScriptedTransport.Step] = [
            .status(200, body: "{\"n\": 4711471147114711, \"s\": \"4711471147114711\"}")
        ]
        try await bench.record(steps, redactor: redactor) { _ = try await $0.request(bench.target()) }
        let response = try await bench.provider(try ReplayTransport(bench.file)).request(bench.target())
        #expect(response.data == Data("{\"n\": 0, \"s\": \"REDACTED\"}".utf8))
    }

    @Test("the chunks of a body shortened by redaction still add up to the body")
    func pieces() async throws {
        let secret = "{\"token\": \"" + String(repeating: "x", count: 1_000) + "\", \"a\": 1}"
        let chunks = AsyncStream { continuation in
            for character in secret { continuation.yield(Data(String(character).utf8)) }
            continuation.finish()
        }
        try await bench.record([.status(200, body: .stream(chunks))]) { _ = try await $0.request(bench.target()) }
        let response = try await bench.provider(try ReplayTransport(bench.file)).stream(bench.target())
        var body = Data()
        for try await chunk in response.body { body += chunk }
        #expect(body == Data("{\"token\": \"REDACTED\", \"a\": 1}".utf8))
    }
}
