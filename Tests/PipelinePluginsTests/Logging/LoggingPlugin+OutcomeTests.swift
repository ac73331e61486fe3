import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// The lines that are written when a call has ended.
@Suite("LoggingPlugin, outcomes of calls", .tags(.concurrent), .watched)
struct LoggingPluginOutcomeTests {
    private let clock = ManualClock()
    private let lines = LogLines()

    private func provider(_ steps: [ScriptedTransport.Step], _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: ScriptedTransport(steps), plugins: plugins, configuration: .init(clock: clock))
    }

    private func log(_ level: LoggingPlugin.Level = .error, _ form: LoggingPlugin.Form = .lines) -> LoggingPlugin {
        LoggingPlugin(level: level, form: form, handler: lines.handler)
    }

    /// Makes two attempts, whatever the outcome of the first.
    private let twice = PluginStack.intercept { request, _, next in
        _ = try? await next(request)
        return try await next(request)
    }

    @Test(
        "A body that fails to decode has one line, in each form and at each position",
        arguments: [LoggingPlugin.Form.lines, .summary, .curl],
        [true, false]
    )
    func decoding(form: LoggingPlugin.Form, isOutside: Bool) async {
        let steps: [ScriptedTransport.Step] = [.status(200, body: "canary"), .status(200, body: "canary")]
        let provider =
            isOutside ? provider(steps, log(.info, form), twice) : provider(steps, twice, log(.info, form))
        _ = try? await provider.request(Ask(url: "https://a.test?q=canary"), as: [Int].self)
        let ends = lines.all.filter { !$0.contains("→") && !$0.contains("←") }
        #expect(ends.count == 1)
        let attempt = isOutside ? "" : " attempt 2"
        #expect(ends.first?.hasPrefix("error #1\(attempt) ✗ mapping.object: ") == true)
        #expect(ends.first?.hasSuffix(", GET https://a.test/b?q=…, 0 ms, 2 exchanges") == true)
        #expect(!lines.text.contains("canary"))
    }

    @Test("A call that has already failed keeps its one line if decoding is requested", arguments: [true, false])
    func failedBefore(isOutside: Bool) async {
        let steps: [ScriptedTransport.Step] = [.status(500, body: "no"), .status(404, body: "no")]
        let provider = isOutside ? provider(steps, log(), twice) : provider(steps, twice, log())
        _ = try? await provider.request(Ask(), as: [Int].self)
        let statuses = lines.all.map { $0.split(separator: ",").first.map { $0.suffix(10) } ?? "" }
        #expect(statuses == (isOutside ? ["status 404"] : ["status 500", "status 404"]))
    }

    private let waiting = PluginStack.exchange(name: "Waiting") { request, context, send in
        context.annotate("waited", by: MinimumDurationPlugin(.zero), duration: .milliseconds(20))
        if request.method == .post { throw PipelineError(.plugin, "refused") }
        return try await send(request)
    }

    @Test("The lines of exchanges, failures and summaries show what plugins did")
    func annotations() async throws {
        let provider = provider([.status(200), .status(200)], log(.info), log(.info, .summary), waiting)
        _ = try await provider.request(Ask())
        _ = try? await provider.request(Ask(method: .post))
        let notes = lines.all.filter { $0.hasSuffix(", MinimumDurationPlugin waited 20 ms") }
        #expect(notes.map { $0.split(separator: " ")[2] } == ["←", "200", "✗", "✗"])
    }

    @Test("A level from a closure can change at run time, and the level of a call overrides it")
    func levelAtRunTime() async throws {
        let level = Mutex(LoggingPlugin.Level.off)
        let plugin = LoggingPlugin(level: { level.withLock { $0 } }, handler: lines.handler)
        let provider = provider([.status(200), .status(200), .status(200)], plugin)
        _ = try await provider.request(Ask())
        #expect(lines.all.isEmpty)
        level.withLock { $0 = .info }
        _ = try await provider.request(Ask())
        #expect(lines.all.count == 2)
        _ = try await provider.request(Ask(), options: RequestOptions { $0.logLevel = .off })
        #expect(lines.all.count == 2)
    }

    @Test("A call that is cancelled before it begins has one line at level info, and none at level error")
    func cancelledBefore() async {
        let provider = provider([.status(200)], log(.info), log(.error))
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await provider.request(Ask())
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(
            lines.all == [
                "info #1 ✗ cancelled: the call was cancelled before it began, GET https://a.test/b, 0 ms, 0 exchanges"
            ]
        )
    }

    @Test("A failure made by an outer plugin has a line; a failure that an outer plugin rescues keeps its line")
    func outside() async {
        let fail = PluginStack.process { result, _ in result = .failure(PipelineError(.offline, "by decision")) }
        _ = try? await provider([.status(200)], fail, log()).request(Ask())
        let rescue = PluginStack.process { result, _ in
            guard case .failure(let error) = result, let request = error.request else { return }
            result = .success(PipelineResponse(request: request, statusCode: 203))
        }
        _ = try? await provider([.failure(.dns)], rescue, log(.info, .summary)).request(Ask())
        _ = try? await provider([], .prepare(name: "guard") { _, _ in throw PipelineError(.offline, "no") }, log())
            .request(Ask())
        #expect(
            lines.all == [
                "error #1 ✗ offline: by decision, GET https://a.test/b, 0 ms, 1 exchange",
                "error #1 ✗ dns: by script, GET https://a.test/b, 0 ms, 1 exchange",
                "info #1 203 GET https://a.test/b 0 ms, 1 exchange, 0 bytes",
                "error #1 ✗ offline: no (guard, prepare), GET https://a.test/b, 0 ms, 0 exchanges",
            ]
        )
    }

    @Test("A status that an outer plugin makes unacceptable is logged with the code of the error")
    func validation() async {
        let change = PluginStack.process { result, _ in
            guard case .success(let response) = result else { return }
            result = .success(PipelineResponse(request: response.request, statusCode: 418))
        }
        _ = try? await provider([.status(200)], change, log()).request(Ask(validationType: .successCodes))
        #expect(lines.all == ["error #1 ✗ unacceptableStatus 418, GET https://a.test/b, 0 ms, 1 exchange"])
    }

    @Test("A broken stream has a failure line, an abandoned one a line at level info, a complete one its summary")
    func streams() async throws {
        let clock = clock
        func stream(_ count: Int, throwing error: PipelineError?) -> ScriptedTransport.Step {
            let chunks = AsyncThrowingStream<Data, any Error> { continuation in
                for _ in 0..<count { continuation.yield(Data("ab".utf8)) }
                continuation.finish(throwing: error)
            }
            return .status(200, body: .stream(chunks))
        }
        let steps = [stream(2, throwing: PipelineError(.connectionLost, "by test")), stream(3, throwing: nil)]
        let provider = provider(steps + [stream(2, throwing: nil)], log(.info, .summary))
        let broken = try await provider.stream(Ask())
        #expect(lines.all == [])
        clock.advance(by: .seconds(1))
        _ = try? await broken.response.body.collect(upTo: 100)
        for try await _ in try await provider.stream(Ask()).body { clock.advance(by: .milliseconds(500)) }
        for try await _ in try await provider.stream(Ask()).body { break }
        #expect(
            lines.all == [
                "error #1 ✗ connectionLost: by test, GET https://a.test/b, 1000 ms, 1 exchange",
                "info #2 200 GET https://a.test/b 1500 ms, 1 exchange, 6 bytes",
                "info #3 ✗ cancelled: the body was released before its end, GET https://a.test/b, 0 ms, 1 exchange",
            ]
        )
    }

    @Test(
        "C21 The option avoidLogError omits the line of a value that fails to decode; a summary then shows its code"
    )
    func avoided() async {
        let options = RequestOptions { $0.avoidLogError = true }
        for form in [LoggingPlugin.Form.lines, .summary] {
            _ = try? await provider([.status(200, body: "no")], log(.info, form))
                .request(Ask(), as: Int.self, options: options)
        }
        let ends = lines.all.filter { !$0.contains("→") && !$0.contains("←") }
        #expect(ends == ["info #1 mapping.object GET https://a.test/b 0 ms, 1 exchange, 2 bytes"])
    }

    @Test("Two plugins in a stack track a call independently")
    func twoPlugins() async {
        let inner = LogLines()
        let provider = provider(
            [.failure(.dns), .status(200, body: "no")],
            log(),
            twice,
            LoggingPlugin(level: .error, handler: inner.handler)
        )
        _ = try? await provider.request(Ask(), as: Int.self)
        #expect(lines.all.map { $0.prefix(26) } == ["error #1 ✗ mapping.object:"])
        #expect(
            inner.all.map { $0.prefix(36) } == [
                "error #1 ✗ dns: by script, GET https", "error #1 attempt 2 ✗ mapping.object:",
            ]
        )
    }
}
