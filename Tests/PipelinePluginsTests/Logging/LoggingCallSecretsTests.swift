import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// Secrets of a call that also appear elsewhere in its lines.
@Suite("LoggingPlugin, secrets of the call in its own lines", .watched)
struct LoggingCallSecretsTests {
    private let lines = LogLines()

    private let authenticate = PluginStack.prepare { request, _ in
        try request.setHeader("Bearer canary-123", for: .authorization, isSecret: true)
    }

    private func provider(_ steps: [ScriptedTransport.Step], _ log: LoggingPlugin) -> Provider<Ask> {
        Provider(
            transport: ScriptedTransport(steps),
            plugins: [log, authenticate],
            configuration: .init(clock: ManualClock())
        )
    }

    @Test(
        "F06 A token of a header field is hidden in a path, in a shown query value and in the reason of an error",
        arguments: [LoggingPlugin.Form.lines, .curl, .summary],
        [LoggingPlugin.Level.error, .info]
    )
    func token(form: LoggingPlugin.Form, level: LoggingPlugin.Level) async {
        let log = LoggingPlugin(
            level: level,
            redactor: Redactor(shownQueryNames: ["page", "sort"]),
            form: form,
            handler: lines.handler
        )
        let steps: [ScriptedTransport.Step] = [
            .status(200), .status(500), .failure(PipelineError(.offline, "no canary-123")),
        ]
        let provider = provider(steps, log)
        let target = Ask(url: "https://a.test?page=canary-123&sort=up", path: "/canary-123/x")
        for _ in steps { _ = try? await provider.request(target) }
        #expect(lines.all.count == (level == .error ? 2 : form == .summary ? 3 : 8))
        for line in lines.all { #expect(line.contains("https://a.test/…/x?page=…&sort=up")) }
        #expect(lines.text.contains("✗ offline: no …, GET"))
        #expect(!lines.text.contains("canary"))
    }

    @Test(
        "F06 A token, and a cookie of an earlier response, are hidden in the URL of a redirect",
        arguments: [LoggingPlugin.Form.lines, .curl, .summary],
        [200, 500]
    )
    func redirect(form: LoggingPlugin.Form, status: Int) async {
        let steps: [ScriptedTransport.Step] = [
            .status(302, headers: [.location: "/canary-id-1/canary-123/x", .setCookie: "id=canary-id-1; Path=/"]),
            .status(status),
        ]
        _ = try? await provider(steps, LoggingPlugin(form: form, handler: lines.handler)).request(Ask())
        #expect(lines.all.last?.contains("GET https://a.test/…/…/x") == true)
        #expect(!lines.text.contains("canary"))
    }

    @Test(
        "F06 A token that contains a declared value is hidden completely, with and without a formatter"
    )
    func declaredPart() async {
        let formatters: [(@Sendable (LoggingPlugin.Event) -> String?)?] = [
            nil, { "\($0.method) \($0.url) canary-123 and canary, \($0)" },
        ]
        for form in [LoggingPlugin.Form.lines, .summary] {
            for formatter in formatters {
                let log = LoggingPlugin(
                    redactor: Redactor(secretValues: ["canary"]),
                    form: form,
                    handler: lines.handler,
                    formatter: formatter
                )
                for status in [200, 500] {
                    _ = try? await provider([.status(status)], log).request(Ask(path: "/canary-123/x"))
                }
            }
        }
        #expect(lines.all.count == 14)
        for line in lines.all { #expect(line.contains("GET https://a.test/…/x")) }
        #expect(lines.all.count { $0.contains("/x … and …, #1") } == 7)
        #expect(!lines.text.contains("canary") && !lines.text.contains("123"))
    }
}
