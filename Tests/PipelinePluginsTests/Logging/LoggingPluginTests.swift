import Foundation
import Logging
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelinePlugins
@testable import PipelineTelemetry

@Suite("LoggingPlugin", .tags(.concurrent), .watched)
struct LoggingPluginTests {
    private let clock = ManualClock()
    private let lines = LogLines()

    private func provider(
        _ steps: [ScriptedTransport.Step],
        _ plugins: [any PluginType]
    ) -> Provider<Ask> {
        Provider(transport: ScriptedTransport(steps), plugins: plugins, configuration: .init(clock: clock))
    }

    /// Runs calls while the clock advances through each of their sleeps.
    private func inVirtualTime<Value: Sendable>(_ work: () async -> Value) async -> Value {
        let runner = Task {
            while !Task.isCancelled { try await clock.advanceToNextSleeper() }
        }
        defer { runner.cancel() }
        return await work()
    }

    /// The lines of one call.
    private func lines(
        _ target: Ask = Ask(),
        _ step: ScriptedTransport.Step = .status(200, body: "hello"),
        _ plugin: LoggingPlugin
    ) async -> [String] {
        await inVirtualTime { _ = try? await provider([step], [plugin]).request(target) }
        return lines.all
    }

    @Test("The plugin passes the conformance suite", arguments: [true, false])
    func conformance(asCURL: Bool) async {
        let violations = await PluginConformance {
            LoggingPlugin(level: .trace, form: asCURL ? .curl : .lines) { _, _ in }
        }.run()
        #expect(violations == [])
    }

    // MARK: Levels

    @Test(
        "C77 Each level writes everything that the lower ones do, and more",
        arguments: [
            (LoggingPlugin.Level.off, []),
            (.error, ["error ✗"]),
            (.info, ["info →", "info ←", "error ✗"]),
            (.debug, ["info →", "debug → fields:", "info ←", "debug ← fields:", "error ✗"]),
            (
                .trace,
                [
                    "info →", "debug → fields:", "info ←", "debug ← fields:", "trace → body:", "trace ← body:",
                    "error ✗",
                ]
            ),
        ] as [(LoggingPlugin.Level, [String])]
    )
    func levels(level: LoggingPlugin.Level, kinds: [String]) async {
        let target = Ask(method: .post, task: .requestData(Data("hi".utf8)))
        let found = await lines(target, .status(500), LoggingPlugin(level: level, handler: lines.handler))
        #expect(found.count == kinds.count)
        for (line, kind) in zip(found, kinds) {
            #expect(line.replacingOccurrences(of: "#1 ", with: "").hasPrefix(kind))
        }
    }

    @Test("Levels are ordered")
    func order() {
        let levels: [LoggingPlugin.Level] = [.trace, .off, .debug, .error, .info]
        #expect(levels.sorted().map(\.description) == ["off", "error", "info", "debug", "trace"])
    }

    @Test("At level info, a call is two lines, with status, duration and size")
    func infoLines() async {
        let found = await lines(
            Ask(url: "https://a.test?page=2"),
            .delayed(.milliseconds(12), .status(200, body: "hello")),
            LoggingPlugin(handler: lines.handler)
        )
        #expect(
            found == [
                "info #1 → GET https://a.test/b?page=…", "info #1 ← 200 GET https://a.test/b?page=… 12 ms, 5 bytes",
            ]
        )
    }

    @Test("Header fields are written one per line, and values that are not on the list are hidden")
    func debugLines() async {
        let target = Ask(headers: ["Accept": "text/plain", "X-Api-Key": "canary"])
        let found = await lines(
            target,
            .status(200, headers: [.server: "nginx", .setCookie: "canary"]),
            LoggingPlugin(level: .debug, handler: lines.handler)
        )
        #expect(found.contains("debug #1 → fields:\n    Accept: text/plain\n    X-Api-Key: …"))
        #expect(found.contains("debug #1 ← fields:\n    Server: nginx\n    Set-Cookie: …"))
    }

    @Test("Bodies are redacted, and their lines are indented")
    func traceLines() async {
        let target = Ask(
            method: .post,
            task: .requestParameters(parameters: ["a": 1, "pin": 2], encoding: JSONEncoding.default)
        )
        let found = await lines(
            target,
            .status(200, headers: [.contentType: "text/plain"], body: "one\n#9 ✗ forged\r\nthree"),
            LoggingPlugin(level: .trace, handler: lines.handler)
        )
        #expect(found.contains(#"trace #1 → body: {"a":1,"pin":"…"}"#))
        #expect(found.contains("trace #1 ← body: one\n    #9 ✗ forged\n    three"))
    }

    @Test(
        "A duration is written in a readable unit",
        arguments: [
            (Duration.zero, "0 ms"), (.microseconds(340), "0.3 ms"), (.microseconds(9_900), "9.9 ms"),
            (.milliseconds(12), "12 ms"), (.milliseconds(9_999), "9999 ms"), (.milliseconds(12_340), "12.3 s"),
            (.seconds(60), "60 s"),
        ]
    )
    func durations(duration: Duration, text: String) async {
        let found = await lines(Ask(), .delayed(duration, .status(200)), LoggingPlugin(handler: lines.handler))
        #expect(found.last == "info #1 ← 200 GET https://a.test/b \(text), 0 bytes")
    }

    // MARK: Failures

    @Test(
        "A call fails if its status is not accepted, or if it is 400 or above where any status is accepted",
        arguments: [
            (200, ValidationType.anyStatus, false), (302, .anyStatus, false), (399, .anyStatus, false),
            (400, .anyStatus, true),
            (500, .anyStatus, true), (302, .successCodes, true), (204, .successCodes, false),
            (404, .successCodes, true),
            (404, .customCodes([200, 404]), false), (201, .customCodes([200, 404]), true),
        ]
    )
    func failedStatus(status: Int, validation: ValidationType, isFailure: Bool) async {
        let found = await lines(
            Ask(validationType: validation),
            .status(status),
            LoggingPlugin(level: .error, handler: lines.handler)
        )
        let code = validation == .anyStatus ? "status" : "unacceptableStatus"
        #expect(found == (isFailure ? ["error #1 ✗ \(code) \(status), GET https://a.test/b, 0 ms, 1 exchange"] : []))
    }

    @Test("A failure is one line with code, reason, method, URL, exchanges and duration")
    func failureLine() async {
        let retry = PluginStack.intercept { request, _, next in
            _ = try? await next(request)
            return try await next(request)
        }
        let step = ScriptedTransport.Step.delayed(.milliseconds(600), .failure(.connectionLost))
        let provider = provider([step, step], [LoggingPlugin(level: .error, handler: lines.handler), retry])
        await inVirtualTime { _ = try? await provider.request(Ask(url: "https://a.test?q=canary")) }
        #expect(lines.all == ["error #1 ✗ connectionLost: by script, GET https://a.test/b?q=…, 1200 ms, 2 exchanges"])
    }

    @Test("A failure names the plugin that threw, on one line")
    func pluginFailure() async {
        let plugin = PluginStack.prepare(name: "my\nplugin") { _, _ in throw PipelineError(.offline, "no\nnet") }
        let provider = provider([], [LoggingPlugin(handler: lines.handler), plugin])
        _ = try? await provider.request(Ask())
        #expect(
            lines.all == ["error #1 ✗ offline: no net (my plugin, prepare), GET https://a.test/b, 0 ms, 0 exchanges"]
        )
    }

    @Test("A target that never became a request is logged too, without its secrets")
    func failedTarget() async throws {
        let provider = provider([], [LoggingPlugin(level: .trace, handler: lines.handler)])
        _ = try? await provider.request(Ask(url: "https://bob:canary@a.test?token=canary"))
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1)
        #expect(line.hasPrefix("error #1 ✗ invalidRequest.userInfo: "))
        #expect(line.hasSuffix(", GET https://…@a.test/b?token=…, 0 ms, 0 exchanges"))
        #expect(!line.contains("canary"))
    }

    @Test(
        "A cancelled call is logged at level info, not error",
        arguments: [LoggingPlugin.Level.error, .info]
    )
    func cancelled(level: LoggingPlugin.Level) async {
        let transport = ScriptedTransport(always: .hang)
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [LoggingPlugin(level: level, handler: lines.handler)]
        )
        let call = Task { try await provider.request(Ask()) }
        await eventually { !transport.sent.isEmpty }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(lines.all.allSatisfy { $0.hasPrefix("info ") })
        #expect(lines.all.count { $0.contains("✗ cancelled: ") } == (level == .info ? 1 : 0))
    }

    @Test("C21 The option avoidLogError omits the line of a failed call and nothing else")
    func avoidLogError() async {
        let provider = provider(
            [.status(500), .failure(.offline), .status(500)],
            [LoggingPlugin(handler: lines.handler)]
        )
        _ = try? await provider.request(Ask(), options: .init { $0.avoidLogError = true })
        _ = try? await provider.request(Ask(options: .init { $0.avoidLogError = true }))
        #expect(lines.all.map { $0.prefix(9) } == ["info #1 →", "info #1 ←", "info #2 →", "info #2 ←"])
        _ = try? await provider.request(Ask())
        #expect(lines.all.last?.hasPrefix("error #3 ✗ status 500") == true)
    }

    @Test("Every failure is passed on unchanged")
    func passedOn() async {
        let provider = provider([.failure(.dns)], [LoggingPlugin(level: .trace, handler: lines.handler)])
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(error?.code == .dns)
        #expect(error?.plugin == nil)
    }

    // MARK: Position

    @Test("The lines of attempts and redirects show their numbers, as errors and the inspector do")
    func attemptAndHop() async {
        let retry = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let provider = provider(
            [.status(503), .status(302, headers: [.location: "/c?code=canary"]), .status(200)],
            [retry, LoggingPlugin(level: .info, handler: lines.handler)]
        )
        _ = try? await provider.request(Ask())
        #expect(
            lines.all == [
                "info #1 → GET https://a.test/b",
                "info #1 ← 503 GET https://a.test/b 0 ms, 0 bytes",
                "error #1 ✗ status 503, GET https://a.test/b, 0 ms, 1 exchange",
                "info #1 attempt 2 → GET https://a.test/b",
                "info #1 attempt 2 ← 302 GET https://a.test/b 0 ms, 0 bytes",
                "info #1 attempt 2, redirect 1 → GET https://a.test/c?code=…",
                "info #1 attempt 2, redirect 1 ← 200 GET https://a.test/c?code=… 0 ms, 0 bytes",
            ]
        )
    }

    @Test("The line of a redirect that was not followed gives the reason")
    func refusedRedirect() async {
        let found = await lines(
            Ask(),
            .status(302, headers: [.location: "http://a.test/"]),
            LoggingPlugin(handler: lines.handler)
        )
        #expect(found.last == "info #1 ← 302 GET https://a.test/b 0 ms, 0 bytes, redirect not followed: downgrade")
    }

    @Test("Outside a plugin that retries, a call that eventually succeeds has no failure line")
    func outsideRetry() async {
        let retry = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let provider = provider(
            [.status(503), .status(200)],
            [LoggingPlugin(level: .error, handler: lines.handler), retry]
        )
        _ = try? await provider.request(Ask())
        #expect(lines.all.isEmpty)
    }

    @Test(
        "A body is logged as it is at the plugin's position, an exchange as it is on the wire",
        arguments: [true, false]
    )
    func bodyPosition(isOutside: Bool) async {
        let change = PluginStack.process { result, _ in
            result = result.map { response in
                var response = response
                response.body = .bytes(Data("changed".utf8))
                return response
            }
        }
        let logging = LoggingPlugin(level: .trace, handler: lines.handler)
        let provider = provider([.status(200, body: "wire")], isOutside ? [logging, change] : [change, logging])
        _ = try? await provider.request(Ask())
        #expect(lines.all.contains("trace #1 ← body: \(isOutside ? "changed" : "wire")"))
        #expect(lines.all.contains("info #1 ← 200 GET https://a.test/b 0 ms, 4 bytes"))
    }

    @Test("explain() reports two plugins with the default logger, but only if both write the same lines")
    func findings() {
        func findings(_ plugins: LoggingPlugin...) -> [String] {
            provider([], plugins).explain().findings.map(\.message)
        }
        #expect(findings(LoggingPlugin(), LoggingPlugin(level: .trace)).count == 1)
        #expect(findings(LoggingPlugin(form: .summary), LoggingPlugin(form: .summary)).count == 1)
        #expect(findings(LoggingPlugin(level: .debug, form: .summary), LoggingPlugin()).count == 1)
        #expect(findings(LoggingPlugin(form: .summary), LoggingPlugin()).isEmpty)
        #expect(findings(LoggingPlugin(), LoggingPlugin(level: .error)).isEmpty)
        #expect(findings(LoggingPlugin(), LoggingPlugin(logger: lines.logger(level: .info))).isEmpty)
        #expect(findings(LoggingPlugin(), LoggingPlugin(handler: lines.handler)).isEmpty)
        #expect(findings(LoggingPlugin()).isEmpty)
    }

    // MARK: Output

    @Test("C78 A logger gets each line at its level, and keeps its own level")
    func logger() async {
        let plugin = LoggingPlugin(level: .trace, logger: lines.logger(level: .info))
        let found = await lines(Ask(), .status(404), plugin)
        #expect(found.map { $0.prefix { $0 != " " } } == ["info", "info", "error"])
    }

    @Test("The default logger passes all lines, so the levels of the plugin and the call decide")
    func defaultLogger() {
        let logger = LoggingPlugin.makeStandardLogger()
        #expect(logger.label == "pipeline")
        #expect(logger.logLevel == .trace)
    }

    @Test("M171 In cURL form, a request is one command instead of a line, fields and body")
    func asCURL() async {
        let target = Ask(
            url: "https://a.test?q=canary",
            method: .post,
            task: .requestData(Data(#"{"password":"canary","a":"it's"}"#.utf8)),
            headers: ["Authorization": "canary", "Content-Type": "application/json"]
        )
        let found = await lines(
            target,
            .status(200),
            LoggingPlugin(level: .trace, form: .curl, handler: lines.handler)
        )
        #expect(
            found.first == #"info #1 → curl -X POST -H 'Authorization: …' -H 'Content-Type: application/json' "#
                + #"--data-raw '{"password":"…","a":"it'\''s"}' 'https://a.test/b?q=…'"#
        )
        #expect(found.count { $0.contains("→") } == 1)
    }

    // MARK: Bodies

    @Test("F09 A stream is described, and arrives complete and in order", arguments: [nil, 9])
    func stream(byteCount: Int?) async throws {
        let chunks = ["one", "two", "six"].map { Data($0.utf8) }
        let body = PipelineBody.stream(
            AsyncStream { continuation in
                for chunk in chunks { continuation.yield(chunk) }
                continuation.finish()
            },
            byteCount: byteCount
        )
        let provider = provider([.status(200, body: body)], [LoggingPlugin(level: .trace, handler: lines.handler)])
        let response = try await provider.stream(Ask())
        var received: [Data] = []
        for try await chunk in response.body { received.append(chunk) }
        #expect(received == chunks)
        #expect(lines.all.last == "trace #1 ← body: <a stream\(byteCount == nil ? "" : " of 9 bytes")>")
    }

    @Test("A file is described, not read")
    func file() async {
        let upload = PluginStack.prepare { request, _ in request.body = .file(URL(filePath: "/nowhere")) }
        let provider = provider([.status(200)], [LoggingPlugin(level: .trace, handler: lines.handler), upload])
        _ = try? await provider.request(Ask(method: .put))
        #expect(lines.all.contains("trace #1 → body: <a file>"))
    }

    @Test("F09 A body of 10 MB is cut at 64 KiB")
    func largeBody() async {
        let found = await lines(
            Ask(),
            .status(200, headers: [.contentType: "text/plain"], body: String(repeating: "x", count: 10_000_000)),
            LoggingPlugin(level: .trace, handler: lines.handler)
        )
        let line = found.last ?? ""
        #expect(line.hasSuffix("x <cut, 10000000 bytes in all>"))
        #expect(line.utf8.count < 65_536 + 100)
    }

    @Test("F09 A binary body is described")
    func binaryBody() async {
        let body = PipelineBody.bytes(Data([0x89, 0x50]))
        let found = await lines(
            Ask(),
            .status(200, headers: [.contentType: "image/png"], body: body),
            LoggingPlugin(level: .trace, handler: lines.handler)
        )
        #expect(found.last == "trace #1 ← body: <2 bytes of image/png>")
    }

    @Test("With a limit of 0, only the size of a body is written")
    func noBodies() async {
        let plugin = LoggingPlugin(level: .trace, bodyLimit: 0, handler: lines.handler)
        let found = await lines(Ask(), .status(200, headers: [.contentType: "text/plain"], body: "abc"), plugin)
        #expect(found.last == "trace #1 ← body: <3 bytes of text/plain>")
    }

    @Test("F09 A slow handler changes neither the result nor the exchange's duration")
    func slowHandler() async throws {
        let plugin = LoggingPlugin(level: .trace) { [clock] _, _ in clock.advance(by: .seconds(3_600)) }
        let provider = provider([.status(201, body: "hello")], [plugin])
        let response = try await provider.request(Ask())
        #expect(response.statusCode == 201)
        #expect(response.data == Data("hello".utf8))
        #expect(response.exchanges.map(\.duration) == [.zero])
    }
}
