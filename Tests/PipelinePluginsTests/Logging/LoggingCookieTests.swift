import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("LoggingPlugin, cookies of earlier responses", .watched)
struct LoggingCookieTests {
    @Test("F06 A cookie that an earlier response of the call set is hidden in the lines of later exchanges")
    func earlierCookies() async throws {
        let lines = LogLines()
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "/canary-1/home", .setCookie: "id=canary-1; Path=/"]),
            .status(302, headers: [.location: "/end", .setCookie: "id=canary-2"]),
            .status(200, body: #"{"echo":"canary-1 canary-2"}"#),
        ])
        let log = LoggingPlugin(level: .trace, handler: lines.handler)
        _ = try await Provider<Ask>(transport: transport, plugins: [log]).request(Ask())
        #expect(lines.text.contains("GET https://a.test/…/home"))
        #expect(lines.text.contains(#"{"echo":"… …"}"#))
        #expect(!lines.text.contains("canary"))
    }
}
