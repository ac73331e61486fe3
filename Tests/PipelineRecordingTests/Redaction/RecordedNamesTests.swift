import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("F14 Secret names in recordings", .watched)
struct RecordedNamesTests {
    private enum Place: String, CaseIterable {
        case query, fragment, form, multipart, json, xml, attribute, text, cookie, field
    }

    /// Secret in every place.
    private static let names = [
        "subscription-key", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "device_code", "user_code", "hmac",
        "SAMLResponse", "PHPSESSID", "verification_code", "mnemonic", "psw", "connection_string", "oauth_verifier",
        "password",
    ]

    /// Returns the places in which a name is secret.
    private static func places(of name: String) -> Set<Place> {
        let flat: Set<Place> = [.query, .fragment, .form, .multipart, .cookie]
        switch name {
        case "key": return flat.union([.field])
        case "code", "appid": return flat
        case "sig", "ticket": return flat.union([.json, .xml, .field])
        case "access", "refresh", "seed": return flat.union([.json, .xml])
        case "token_type", "max_tokens", "total_tokens", "token_endpoint": return [.cookie]
        default: return Set(Place.allCases)
        }
    }

    private static let cases: [(name: String, place: Place)] =
        (names + [
            "key", "code", "appid", "sig", "ticket", "access", "refresh", "seed", "token_type", "max_tokens",
            "total_tokens",
            "token_endpoint",
        ]).flatMap { name in Place.allCases.map { (name, $0) } }

    private static func canary(_ name: String, _ place: Place) -> String { "canary.\(name).\(place)!" }

    private static func prepare(
        _ request: inout PipelineRequest,
        _ name: String,
        _ place: Place,
        _ value: String
    ) throws {
        func body(_ type: String, _ text: String) {
            request.headers[.contentType] = type
            request.body = .bytes(Data(text.utf8))
        }
        switch place {
        case .query: request.appendQuery("\(name)=\(value)")
        case .fragment: request.headers[.referer] = "https://api.example/#a=1&\(name)=\(value)"
        case .form: body("application/x-www-form-urlencoded", "a=1&\(name)=\(value)")
        case .multipart:
            body(
                "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n--b--\r\n"
            )
        case .json: body("application/json", #"{"a":[{"\#(name)":"\#(value)"}]}"#)
        case .xml: body("application/xml", #"<?xml version="1.0"?><a><n:\#(name) b="c">\#(value)</n:\#(name)></a>"#)
        case .attribute: body("text/xml", #"<a b="c" \#(name) = '\#(value)'/>"#)
        case .text: body("text/plain", "user: ann\n  \(name): \(value)\n")
        case .cookie: request.headers[.cookie] = "a=b; \(name)=\(value)"
        case .field: if let name = HTTPField.Name(name) { request.headers[name] = value }
        }
    }

    private func send(
        to transport: any Transport,
        _ bench: RecordingBench,
        value: (String, Place) -> String
    ) async throws {
        for (number, (name, place)) in Self.cases.enumerated() {
            let value = value(name, place)
            let provider = bench.provider(transport) { try Self.prepare(&$0, name, place, value) }
            let response = try await provider.request(bench.target("/\(number)", method: .post))
            #expect(response.data == Data("\(number)".utf8), "\(name) in \(place)")
        }
    }

    private func expectCanaries(in text: String, _ what: String) {
        for (name, place) in Self.cases {
            let isHidden = Self.places(of: name).contains(place)
            #expect(text.contains(Self.canary(name, place)) != isHidden, "\(what): \(name) in \(place)")
        }
    }

    @Test("F14 recordings and redacted entries hide secrets by name and place, and match the live requests")
    func table() async throws {
        let bench = try RecordingBench()
        let steps = Self.cases.indices.map { ScriptedTransport.Step.status(200, body: "\($0)") }
        let clear = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport(steps),
            mode: .recordAll,
            redactor: .revealingSecrets
        )
        try await send(to: clear, bench, value: Self.canary)
        try await clear.finish()
        let file = try HARFile(contentsOf: bench.file)
        let redaction = RecordingRedaction(.standard)
        let entries = try (0..<file.count).map { redaction.entry(try file.entry(at: $0)) }
        expectCanaries(in: entries.map { String(decoding: $0.json.data(), as: UTF8.self) }.joined(), "har redact")
        for entry in entries { #expect(redaction.entry(entry) == entry) }

        let transport = try RecordingTransport(bench.file, wrapping: ScriptedTransport(steps), mode: .recordAll)
        try await send(to: transport, bench, value: Self.canary)
        try await transport.recorder?.journal.lane.complete {}
        let journal = try String(contentsOf: bench.folder.appending(path: "api.har.journal"), encoding: .utf8)
        expectCanaries(in: journal, "journal")
        try await transport.finish()
        expectCanaries(in: bench.text, "file")
        // Sends the same values, and then different ones where they are secret.
        try await send(to: ReplayTransport(bench.file), bench, value: Self.canary)
        try await send(to: ReplayTransport(bench.file), bench) { name, place in
            Self.places(of: name).contains(place) ? "another" : Self.canary(name, place)
        }
    }

    @Test("F14 a replayed OAuth response keeps token_type, expires_in and token counts")
    func tokenResponse() async throws {
        struct Token: Decodable {
            let accessToken: String
            let tokenType: String
            let refreshTokenExpiresIn: Int
            let usage: Usage
        }
        struct Usage: Decodable { let totalTokens: Int }
        let bench = try RecordingBench()
        let body = """
            {"access_token": "2YotnFZFEjr1zCsicMWpAA", "token_type": "Bearer", "refresh_token_expires_in": 3600,
             "usage": {"prompt_tokens": 7, "completion_tokens": 8, "total_tokens": 15}}
            """
        try await bench.record([
            .status(200, headers: [.contentType: "application/json"], body: .bytes(Data(body.utf8)))
        ]) {
            _ = try await $0.request(bench.target())
        }
        let response = try await bench.provider(try ReplayTransport(bench.file)).request(bench.target())
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let token = try decoder.decode(Token.self, from: response.data)
        #expect(token.accessToken == "REDACTED" && token.tokenType == "Bearer")
        #expect(token.refreshTokenExpiresIn == 3_600 && token.usage.totalTokens == 15)
    }
}
