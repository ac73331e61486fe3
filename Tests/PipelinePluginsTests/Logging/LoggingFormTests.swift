import Foundation
import Logging
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// Summaries, formatters, and a level for one call.
@Suite("LoggingPlugin, forms", .tags(.concurrent), .realTime, .watched)
struct LoggingFormTests {
    private let clock = ManualClock()
    private let lines = LogLines()

    private func provider(_ steps: [ScriptedTransport.Step], _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: ScriptedTransport(steps), plugins: plugins, configuration: .init(clock: clock))
    }

    private let retry = PluginStack.intercept { request, _, next in
        do {
            let response = try await next(request)
            if response.statusCode < 500 { return response }
        } catch is PipelineError {}
        return try await next(request)
    }

    /// A step that advances the clock by a duration.
    private func taking(_ duration: Duration, _ step: ScriptedTransport.Step) -> ScriptedTransport.Step {
        .answer { [clock] request, context in
            clock.advance(by: duration)
            return try await ScriptedTransport([step]).send(request, context: context)
        }
    }

    // MARK: Summary

    @Test("PEERS 2.8 In summary form, a call is one line at level info, with status, URL, duration, exchanges and size")
    func summary() async {
        let steps = [taking(.milliseconds(40), .status(503)), taking(.milliseconds(83), .status(200, body: "hello"))]
        let provider = provider(steps, LoggingPlugin(form: .summary, handler: lines.handler), retry)
        _ = try? await provider.request(Ask(url: "https://a.test?page=canary"))
        #expect(lines.all == ["info #1 200 GET https://a.test/b?page=… 123 ms, 2 exchanges, 5 bytes"])
    }

    @Test("A call that failed or was cancelled has a failure line and no summary")
    func failedSummary() async {
        let steps: [ScriptedTransport.Step] = [
            .status(404), .failure(.dns), .failure(PipelineError(.cancelled, "gone")),
        ]
        let provider = provider(steps, LoggingPlugin(form: .summary, handler: lines.handler))
        for _ in steps { _ = try? await provider.request(Ask()) }
        #expect(
            lines.all == [
                "error #1 ✗ status 404, GET https://a.test/b, 0 ms, 1 exchange",
                "error #2 ✗ dns: by script, GET https://a.test/b, 0 ms, 1 exchange",
                "info #3 ✗ cancelled: gone, GET https://a.test/b, 0 ms, 1 exchange",
            ]
        )
    }

    @Test("C21 A failed call with avoidLogError has a summary")
    func avoidLogError() async {
        let provider = provider([.status(404), .failure(.dns)], LoggingPlugin(form: .summary, handler: lines.handler))
        let options = RequestOptions { $0.avoidLogError = true }
        for _ in 0..<2 { _ = try? await provider.request(Ask(), options: options) }
        #expect(
            lines.all == [
                "info #1 404 GET https://a.test/b 0 ms, 1 exchange, 0 bytes",
                "info #2 dns GET https://a.test/b 0 ms, 1 exchange",
            ]
        )
    }

    @Test(
        "In summary form, the lines of exchanges are written from level debug on",
        arguments: [
            (LoggingPlugin.Level.error, []), (.info, ["info 200"]),
            (.debug, ["debug →", "debug → fields:", "debug ←", "debug ← fields:", "info 200"]),
            (.trace, ["debug →", "debug → fields:", "debug ←", "debug ← fields:", "trace ← body:", "info 200"]),
        ] as [(LoggingPlugin.Level, [String])]
    )
    func summaryLevels(level: LoggingPlugin.Level, kinds: [String]) async {
        let provider = provider([.status(200)], LoggingPlugin(level: level, form: .summary, handler: lines.handler))
        _ = try? await provider.request(Ask())
        #expect(lines.all.count == kinds.count)
        for (line, kind) in zip(lines.all, kinds) {
            #expect(line.replacingOccurrences(of: "#1 ", with: "").hasPrefix(kind))
        }
    }

    @Test("Inside a plugin that retries, each attempt has its summary; a local response has no exchange")
    func summaryPosition() async {
        let inside = provider(
            [.failure(.dns), .status(200)],
            retry,
            LoggingPlugin(form: .summary, handler: lines.handler)
        )
        _ = try? await inside.request(Ask())
        let answer = PluginStack.intercept { request, _, _ in PipelineResponse(request: request, statusCode: 200) }
        _ = try? await provider([], LoggingPlugin(form: .summary, handler: lines.handler), answer).request(Ask())
        #expect(
            lines.all == [
                "error #1 ✗ dns: by script, GET https://a.test/b, 0 ms, 1 exchange",
                "info #1 attempt 2 200 GET https://a.test/b 0 ms, 2 exchanges, 0 bytes",
                "info #1 200 GET https://a.test/b 0 ms, 0 exchanges, 0 bytes",
            ]
        )
    }

    // MARK: Formatter

    @Test("A logger also gets the lines of a formatter, which does not run for lines below the logger's level")
    func formatterAndLogger() async {
        let asked = LogLines()
        let plugin = LoggingPlugin(
            level: .trace,
            logger: lines.logger(level: .info),
            formatter: { event in
                asked.add("\(event.level)", event.kind.description)
                return event.kind == .response ? nil : "a line"
            }
        )
        _ = try? await provider([.status(200)], plugin).request(Ask())
        #expect(lines.all == ["info a line"])
        #expect(asked.all == ["info request", "info response"])
    }

    // MARK: Metadata, wire

    @Test("A custom logger gets method, host, template and duration as metadata, so that the line need not have them")
    func structured() async {
        let plugin = LoggingPlugin(
            logger: lines.logger(level: .trace),
            formatter: { $0.reason ?? "\($0.kind)" }
        )
        let slow = ScriptedTransport.Step.delayed(.milliseconds(250), .failure(.dns))
        let ask = Ask(url: "https://a.test:8443", method: .delete, pathTemplate: "/b/{id}")
        await clock.run { _ = try? await provider([slow], plugin).request(ask) }
        #expect(lines.all == ["info request", "info by script", "error by script"])
        for metadata in lines.metadata {
            #expect(metadata["method"] == "DELETE" && metadata["host"] == "a.test:8443")
            #expect(metadata["template"] == "/b/{id}")
        }
        #expect(lines.metadata.map { $0["duration"] } == [nil, "0.25", "0.25"])
    }

    @Test("A custom logger gets call, attempt, hop, event, status and code as metadata")
    func metadata() async {
        let plugin = LoggingPlugin(logger: lines.logger(level: .trace))
        let steps: [ScriptedTransport.Step] = [.status(302, headers: [.location: "/c"]), .failure(.dns), .status(200)]
        _ = try? await provider(steps, plugin, retry).request(Ask())
        #expect(
            lines.metadata == [
                ["call": "1", "attempt": "1", "event": "request", "method": "GET", "host": "a.test"],
                [
                    "call": "1", "attempt": "1", "event": "response", "method": "GET", "host": "a.test",
                    "duration": "0.0", "status": "302",
                ],
                ["call": "1", "attempt": "1", "event": "request", "method": "GET", "host": "a.test", "hop": "1"],
                [
                    "call": "1", "attempt": "1", "event": "response", "method": "GET", "host": "a.test",
                    "duration": "0.0", "hop": "1", "code": "dns",
                ],
                ["call": "1", "attempt": "2", "event": "request", "method": "GET", "host": "a.test"],
                [
                    "call": "1", "attempt": "2", "event": "response", "method": "GET", "host": "a.test",
                    "duration": "0.0", "status": "200",
                ],
            ]
        )
    }

    @Test("Over HTTP, a call is logged as it is sent and received")
    func loopback() async throws {
        let server = try LoopbackServer { _ in
            [.respond(200, headers: [("Content-Type", "application/json")], body: #"{"token":"canary","a":1}"#)]
        }
        defer { server.stop() }
        let url = server.url.absoluteString
        let provider = Provider<Ask>(
            transport: URLSessionTransport(),
            plugins: [LoggingPlugin(level: .trace, form: .summary, handler: lines.handler)]
        )
        _ = try await provider.request(Ask(url: url + "?token=canary", headers: ["Authorization": "canary"]))
        #expect(lines.text.contains(#"trace #1 ← body: {"token":"…","a":1}"#))
        #expect(lines.all.last?.hasPrefix("info #1 200 GET \(url)/b?token=… ") == true)
        #expect(lines.all.last?.hasSuffix("s, 1 exchange, 24 bytes") == true)
        #expect(!lines.text.contains("canary"))
    }
}
