import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("MinimumDurationPlugin", .tags(.concurrent), .realTime, .watched)
struct MinimumDurationPluginTests {
    private let clock = ManualClock()
    private let minimum = MinimumDurationPlugin(.seconds(2))

    private func provider(_ transport: any Transport, _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    /// A transport that responds after a number of seconds.
    private func step(_ seconds: Int, _ step: ScriptedTransport.Step = .status(200)) -> ScriptedTransport {
        ScriptedTransport(always: seconds == 0 ? step : .delayed(.seconds(seconds), step))
    }

    @Test("The plugin passes the conformance suite", arguments: [MinimumDurationPlugin.Results.success, .always])
    func conformance(results: MinimumDurationPlugin.Results) async {
        let violations = await PluginConformance { MinimumDurationPlugin(.seconds(2), appliesTo: results) }.run()
        #expect(violations == [])
    }

    // MARK: Effects

    @Test("M01 A fast response is delayed until the minimum has passed since the call began, and is unchanged")
    func fast() async throws {
        let provider = provider(step(1, .status(200, headers: [.server: "s"], body: "body")), minimum)
        let call = Task { try await provider.request(Ask()) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        let response = try await call.value
        #expect(response.statusCode == 200)
        #expect(response.headers == [.server: "s"])
        #expect(response.data == Data("body".utf8))
        #expect(response.exchanges.map(\.duration) == [.seconds(1)])
    }

    @Test("A call that takes at least the minimum is not delayed", arguments: [2, 3])
    func slow(seconds: Int) async throws {
        let provider = provider(step(seconds), minimum)
        let call = Task { try await provider.request(Ask()) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(seconds))
        #expect(try await call.value.statusCode == 200)
        #expect(clock.sleeperCount == 0)
    }

    @Test("Nothing is kept between calls: each is delayed on its own")
    func calls() async throws {
        let provider = provider(step(0), minimum)
        for _ in 1...3 {
            let call = Task { try await provider.request(Ask()) }
            #expect(try await clock.advanceToNextSleeper() == .seconds(2))
            _ = try await call.value
        }
    }

    @Test(
        "M01 A status that the target accepts is delayed; an unacceptable one is delayed only with always",
        arguments: [
            (ValidationType.anyStatus, 404, MinimumDurationPlugin.Results.success, true),
            (.successCodes, 204, .success, true),
            (.successCodes, 404, .success, false),
            (.successCodes, 404, .always, true),
            (.customCodes([404]), 404, .success, true),
        ]
    )
    func statuses(
        validation: ValidationType,
        status: Int,
        results: MinimumDurationPlugin.Results,
        isHeld: Bool
    ) async throws {
        let provider = provider(step(0, .status(status)), MinimumDurationPlugin(.seconds(2), appliesTo: results))
        let call = Task { try await provider.request(Ask(validationType: validation)) }
        if isHeld { #expect(try await clock.advanceToNextSleeper() == .seconds(2)) }
        if validation.accepts(status) {
            #expect((try? await call.value)?.statusCode == status)
        } else {
            #expect(await call.pipelineError?.code == .unacceptableStatus)
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test("M01 A failure is passed on at once; with always, after the minimum", arguments: [true, false])
    func failures(isAlways: Bool) async throws {
        let plugin = MinimumDurationPlugin(.seconds(2), appliesTo: isAlways ? .always : .success)
        let provider = provider(step(0, .failure(.dns)), plugin)
        let call = Task { try await provider.request(Ask()) }
        if isAlways { #expect(try await clock.advanceToNextSleeper() == .seconds(2)) }
        let error = await call.pipelineError
        #expect(error?.code == .dns)
        #expect(error?.reason == "by script")
        #expect(clock.sleeperCount == 0)
    }

    @Test("With always, a call that never became a request is delayed, too", arguments: [true, false])
    func unmade(isAlways: Bool) async throws {
        struct Unmade: Error {}
        let provider = Provider<Ask>(
            transport: step(0),
            plugins: [MinimumDurationPlugin(.seconds(2), appliesTo: isAlways ? .always : .success)],
            configuration: .init(clock: clock),
            endpoint: { _ in throw Unmade() }
        )
        let call = Task { try await provider.request(Ask()) }
        if isAlways { #expect(try await clock.advanceToNextSleeper() == .seconds(2)) }
        #expect(await call.pipelineError?.code == .encoding)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A streamed call is delayed at its header fields, and its body is untouched")
    func stream() async throws {
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        let provider = provider(step(0, .status(200, body: .stream(chunks))), minimum)
        let call = Task { try await provider.stream(Ask()) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        var pieces = try await call.value.body.makeAsyncIterator()
        for byte: UInt8 in 1...3 {
            continuation.yield(Data([byte]))
            #expect(try await pieces.next() == Data([byte]))
        }
        #expect(clock.sleeperCount == 0)
    }

    private enum Cut: CaseIterable, Sendable {
        case before
        case long
        case close
        case past
    }

    @Test(
        "M01 A wait that would reach the deadline of the call ends 50 ms before it, and the response is returned",
        arguments: Cut.allCases,
        [true, false]
    )
    private func deadline(cut: Cut, isInside: Bool) async throws {
        let (total, wait): (Duration, Duration?) =
            switch cut {
            case .before: (.milliseconds(1_500), .milliseconds(450))
            case .long: (.seconds(9), .seconds(1))
            case .close: (.milliseconds(2_010), .milliseconds(960))
            case .past: (.milliseconds(1_020), nil)
            }
        let timeout = TimeoutPlugin(total: total)
        let (answered, answer) = AsyncStream.makeStream(of: Never.self)
        let spy = PluginStack.process { _, _ in answer.finish() }
        let provider = isInside ? provider(step(1), timeout, minimum, spy) : provider(step(1), minimum, spy, timeout)
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        for await _ in answered {}
        if let wait {
            try await clock.waitForSleepers(isInside ? 2 : 1)
            #expect(try await clock.advanceToNextSleeper() == wait)
        }
        #expect(try await call.value.statusCode == 200)
        #expect(clock.now.offset == .seconds(1) + (wait ?? .zero))
    }

    /// A clock whose date jumps.
    private final class JumpingClock: PipelineClock.DatedClock {
        let clock: ManualClock
        let jump = Mutex(TimeInterval(0))

        init(_ clock: ManualClock) { self.clock = clock }

        var now: ManualClock.Instant { clock.now }
        var minimumResolution: Duration { .zero }
        var date: Date { clock.date.addingTimeInterval(jump.withLock { $0 }) }

        func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
            try await clock.sleep(until: deadline, tolerance: tolerance)
        }
    }

    @Test("M01 A date that jumps does not change the wait", arguments: [-1e6, 1e6])
    func jump(seconds: TimeInterval) async throws {
        let jumping = JumpingClock(clock)
        let provider = Provider<Ask>(transport: step(1), plugins: [minimum], configuration: .init(clock: jumping))
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        jumping.jump.withLock { $0 = seconds }
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        jumping.jump.withLock { $0 = -seconds }
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        _ = try await call.value
    }

    // MARK: Errors

    @Test("M01 A call that is cancelled while it is delayed ends at once, as cancelled", arguments: [true, false])
    func cancelled(isFailure: Bool) async throws {
        let plugin = MinimumDurationPlugin(.seconds(2), appliesTo: .always)
        let seen = Mutex<[PipelineError]>([])
        let provider = provider(
            step(0, isFailure ? .failure(.dns) : .status(200)),
            .process { result, _ in
                if case .failure(let error) = result { seen.withLock { $0.append(error) } }
            },
            plugin
        )
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(clock.sleeperCount == 0)
        #expect(clock.now.offset == .zero)
        let error = try #require(seen.withLock { $0 }.first)
        #expect(error.code == .cancelled)
        #expect(error.request?.path == "/b")
    }

    @Test("A cancelled call is not delayed, even with always")
    func cancelledBefore() async {
        let (sent, sending) = AsyncStream.makeStream(of: Never.self)
        let spy = PluginStack.willSend { _, _ in sending.finish() }
        let provider = provider(step(0, .hang), MinimumDurationPlugin(.seconds(2), appliesTo: .always), spy)
        let call = Task { try await provider.request(Ask()) }
        for await _ in sent {}
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(clock.sleeperCount == 0)
    }

    // MARK: Position

    @Test("T06 With a plugin that retries inside, the minimum applies once per call, not per attempt")
    func retry() async throws {
        let transport = ScriptedTransport([
            .delayed(.milliseconds(500), .status(503)), .delayed(.milliseconds(500), .status(200)),
        ])
        let provider = provider(transport, minimum, .sendingAgain(2))
        let call = Task { try await provider.request(Ask()) }
        for milliseconds in [500, 500, 1_000] {
            #expect(try await clock.advanceToNextSleeper() == .milliseconds(milliseconds))
        }
        #expect(try await call.value.exchanges.count == 2)
    }

    @Test("Inside a plugin that retries, each attempt is delayed, but the delays do not add up")
    func insideRetry() async throws {
        let transport = ScriptedTransport([.status(503), .status(503), .status(200)])
        let provider = provider(transport, .sendingAgain(3), minimum)
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        #expect(transport.sent.count == 1)
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        #expect(try await call.value.exchanges.count == 3)
        #expect(clock.now.offset == .seconds(2))
    }

    @Test("explain() reports the plugin inside RetryPlugin")
    func finding() {
        let retry = RetryPlugin()
        let findings = provider(step(0), retry, minimum).explain().findings.map(\.message)
        #expect(findings.count == 1)
        #expect(findings.first?.hasPrefix("MinimumDurationPlugin is inside RetryPlugin") == true)
        #expect(provider(step(0), minimum, retry).explain().findings.isEmpty)
    }

    // MARK: Options

    @Test("C20 minimumDuration of a call overrides the minimum, and zero turns it off", arguments: [0, 1, 3])
    func option(seconds: Int) async throws {
        let provider = provider(step(0), minimum)
        let options = RequestOptions { $0.minimumDuration = .seconds(seconds) }
        let call = Task { try await provider.request(Ask(), options: options) }
        if seconds > 0 { #expect(try await clock.advanceToNextSleeper() == .seconds(seconds)) }
        #expect(try await call.value.statusCode == 200)
        #expect(clock.sleeperCount == 0)
    }

    @Test("With a minimum of zero, only calls that set their own minimum are delayed")
    func zero() async throws {
        let provider = provider(step(0), MinimumDurationPlugin(.zero))
        #expect(try await provider.request(Ask()).statusCode == 200)
        #expect(clock.sleeperCount == 0)
        let slow = Task { try await provider.request(Ask(), options: .init { $0.minimumDuration = .seconds(2) }) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        #expect(try await slow.value.statusCode == 200)
    }

    @Test("A negative minimum traps with a message that gives its value")
    func preconditions() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = MinimumDurationPlugin(.seconds(-1))
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("minimum is -1.0 seconds, less than zero"))
        await #expect(processExitsWith: .failure) { _ = RequestOptions { $0.minimumDuration = .seconds(-1) } }
    }

    @Test("Over loopback HTTP, the response is delayed until the minimum")
    func loopback() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        defer { server.stop() }
        let provider = provider(URLSessionTransport(), minimum)
        let call = Task { try await provider.request(Ask(url: "\(server.url)")) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        #expect(try await call.value.data == Data("hello".utf8))
    }
}
