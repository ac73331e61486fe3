import Foundation
import Pipeline
import PipelineAuth
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("Dumps", .watched)
struct DumpTests {
    private static func texts(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [dumped, "\(value)", String(reflecting: value)]
    }

    @Test("A provider is dumped as the names of its plugins, without what they hold")
    func provider() throws {
        let plugin = BasicAuthPlugin(username: "user-canary", password: "password-canary", scope: .hosts(["a.test"]))
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<Ask>(transport: transport, plugins: [.standard(.resilient) { plugin }])
        for text in Self.texts(provider) + Self.texts([provider]) {
            #expect(text.contains("Provider<Ask>: LoggingPlugin, ") && text.contains("BasicAuthPlugin"))
            #expect(text.contains("ScriptedTransport") && !text.contains("canary"))
        }
    }

    @Test("A challenge is dumped without its token and the values of its parameters")
    func challenge() {
        let challenges = AuthenticationChallenge.challenges(
            in: [.wwwAuthenticate: #"Negotiate canary, Digest nonce="canary", opaque="canary""#]
        )
        #expect(challenges.map(\.token) == ["canary", nil])
        for text in challenges.flatMap({ Self.texts($0) }) + Self.texts(challenges) {
            #expect(!text.contains("canary"))
        }
        #expect(challenges.map { "\($0)" } == [#""Negotiate" with token"#, #""Digest" with nonce, opaque"#])
    }

    @Test("An event is dumped without its data")
    func event() {
        let event = ServerSentEvent(type: "update", data: "canary", id: "canary")
        for text in Self.texts(event) + Self.texts([event]) {
            #expect(!text.contains("canary") && text.contains(#"event "update", 6 bytes"#))
        }
    }

    @Test("Responses, streams and steps of progress are dumped without tokens, cookies and bodies")
    func responses() async throws {
        let fields: HTTPFields = [.setCookie: "s=canary", .authenticationInfo: "nextnonce=canary"]
        let transport = ScriptedTransport(always: .status(200, headers: fields, body: "canary"))
        let plugin = AccessTokenPlugin { _ in "canary" }
        let provider = Provider<Ask>(transport: transport, plugins: [.standard { plugin }])
        let target = Ask(authorizationType: .bearer)
        let response = try await provider.request(target)
        #expect(transport.sent.first?.headers[.authorization] == "Bearer canary")
        var values: [Any] = [response, response.request, response.exchanges, response.body]
        values.append(try await provider.stream(target))
        for try await step in provider.requestWithProgress(target) { values.append(step) }
        for text in values.flatMap({ Self.texts($0) }) {
            #expect(!text.isEmpty && !text.contains("canary"), "\(text)")
        }
    }
}
