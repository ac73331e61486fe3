import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TimeoutPlugin: attempt and idle", .tags(.concurrent), .watched)
struct TimeoutPluginTests {
    private let clock = ManualClock()

    private func provider(_ transport: ScriptedTransport, _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    private func body(
        _ count: Int,
        every: Duration = .zero,
        of byteCount: Int? = nil,
        hangs: Bool = false
    ) -> PipelineBody {
        .stream(SlowBytes(count: count, every: every, clock: clock, hangs: hangs), byteCount: byteCount)
    }

    @Test(
        "The plugin passes the conformance suite, whichever timeout is set",
        arguments: [
            TimeoutPlugin(attempt: .seconds(3_600)), TimeoutPlugin(total: .seconds(3_600)),
            TimeoutPlugin(idle: .seconds(3_600)),
            TimeoutPlugin(attempt: .seconds(3_600), total: .seconds(7_200), idle: .seconds(60)),
        ]
    )
    func conformance(plugin: TimeoutPlugin) async {
        let violations = await PluginConformance { plugin }.run()
        #expect(violations == [])
    }

    // MARK: Attempt

    @Test(
        "The attempt timeout works inside and outside a retry plugin, which can succeed with the next attempt",
        arguments: [true, false]
    )
    func attemptEverywhere(isInside: Bool) async throws {
        let transport = ScriptedTransport([.hang, .delayed(.seconds(4), .status(200))])
        let timeout = TimeoutPlugin(attempt: .seconds(5))
        let retry = PluginStack.sendingAgain(2)
        let provider = isInside ? provider(transport, retry, timeout) : provider(transport, timeout, retry)
        let call = Task { try await provider.request(Ask()) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        try await clock.waitForSleepers(2)
        #expect(try await clock.advanceToNextSleeper() == .seconds(4))
        let response = try await call.value
        #expect(response.exchanges.map(\.failure) == [.timeout(.attempt), nil])
        #expect(response.exchanges.map(\.duration) == [.seconds(5), .seconds(4)])
        #expect(clock.sleeperCount == 0)
    }

    @Test("The attempt timeout applies to each exchange, including those after a redirect")
    func attemptAfterRedirect() async throws {
        let redirect = ScriptedTransport.Step.status(302, headers: [.location: "/next"])
        let transport = ScriptedTransport([
            .delayed(.seconds(4), redirect), .delayed(.seconds(4), redirect), .delayed(.seconds(60), redirect),
        ])
        let provider = provider(transport, TimeoutPlugin(attempt: .seconds(5)))
        let call = Task { try await provider.request(Ask()) }
        for seconds in [4, 4, 5] {
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(seconds))
        }
        let error = await call.pipelineError
        #expect(error?.code == .timeout(.attempt))
        #expect(error?.exchanges.map(\.duration) == [.seconds(4), .seconds(4), .seconds(5)])
    }

    @Test("The attempt timeout covers a buffered body up to its last byte")
    func attemptOfBody() async throws {
        let transport = ScriptedTransport(always: .status(200, body: body(9, every: .seconds(1))))
        let provider = provider(transport, TimeoutPlugin(attempt: .milliseconds(2_500)))
        let call = Task { try await provider.request(Ask()) }
        for _ in 1...2 {
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(1))
        }
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(500))
        #expect(await call.pipelineError?.code == .timeout(.attempt))
    }

    @Test("The attempt timeout of a streamed call ends with the header fields", arguments: [true, false])
    func attemptOfStream(isInTime: Bool) async throws {
        let slow = body(3, every: .seconds(10))
        let transport = ScriptedTransport(always: .delayed(.seconds(isInTime ? 4 : 6), .status(200, body: slow)))
        let provider = provider(transport, TimeoutPlugin(attempt: .seconds(5)))
        let call = Task { try await provider.stream(Ask()) }
        try await clock.waitForSleepers(2)
        try await clock.advanceToNextSleeper()
        guard isInTime else {
            #expect(await call.pipelineError?.code == .timeout(.attempt))
            #expect(clock.now.offset == .seconds(5))
            return
        }
        var pieces = try await call.value.body.makeAsyncIterator()
        for _ in 1...3 {
            async let moved = clock.advanceToNextSleeper()
            #expect(try await pieces.next() == Data([7]))
            #expect(try await moved == .seconds(10))
        }
    }

    @Test("The attempt timeout covers the streamed body of a response with an unacceptable status")
    func attemptOfRefusedStream() async throws {
        let (begun, silence) = AsyncStream.makeStream(of: Never.self)
        let bytes = SlowBytes(count: 0, every: .zero, clock: clock, hangs: true, onEnd: { silence.finish() })
        let transport = ScriptedTransport(always: .status(500, body: .stream(bytes)))
        let provider = provider(transport, TimeoutPlugin(attempt: .seconds(3)))
        let call = Task { _ = try await provider.stream(Ask(validationType: .successCodes)) }
        for await _ in begun {}
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        #expect(await call.pipelineError?.code == .unacceptableStatus)
    }

    // MARK: Idle

    private enum Reading: CaseIterable, Sendable {
        case buffered
        case file
        case streamed
    }

    private func read(_ reading: Reading, _ provider: Provider<Ask>, _ file: URL) async throws -> Int {
        switch reading {
        case .buffered: return try await provider.request(Ask()).data.count
        case .file:
            let response = try await provider.request(Ask(task: .downloadDestination(.file(file))))
            return response.body.byteCount ?? -1
        case .streamed:
            var count = 0
            for try await chunk in try await provider.stream(Ask()).body { count += chunk.count }
            return count
        }
    }

    private static func makeFile() -> URL {
        FileManager.default.temporaryDirectory.appending(path: "timeout-\(UUID().uuidString)")
    }

    @Test("C12 A body whose bytes arrive often enough is not idle, however long it takes", arguments: Reading.allCases)
    private func slowButNotIdle(reading: Reading) async throws {
        let transport = ScriptedTransport(always: .status(200, body: body(20, every: .milliseconds(500), of: 20)))
        let provider = provider(transport, TimeoutPlugin(idle: .seconds(1)))
        let file = Self.makeFile()
        defer { try? FileManager.default.removeItem(at: file) }
        let call = Task { try await read(reading, provider, file) }
        for _ in 1...20 {
            try await clock.waitForSleepers(2)
            clock.advance(by: .milliseconds(500))
        }
        #expect(try await call.value == 20)
        #expect(clock.sleeperCount == 0)
    }

    @Test(
        "A body without a byte for too long is timeout.idle, and a partial body is never returned",
        arguments: Reading.allCases
    )
    private func idle(reading: Reading) async throws {
        let (begun, silence) = AsyncStream.makeStream(of: Never.self)
        let bytes = SlowBytes(count: 3, every: .zero, clock: clock, hangs: true) { silence.finish() }
        let transport = ScriptedTransport(always: .status(200, body: .stream(bytes)))
        let provider = provider(transport, TimeoutPlugin(idle: .seconds(1)))
        let file = Self.makeFile()
        let call = Task { try await read(reading, provider, file) }
        for await _ in begun {}
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        let error = await call.pipelineError
        #expect(error?.code == .timeout(.idle))
        #expect(error?.reason == "no byte of the body arrived for 1000 ms")
        if reading != .streamed { #expect(error?.exchanges.map(\.failure) == [.timeout(.idle)]) }
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test("The idle timeout does not cover the wait for the header fields")
    func idleBeforeHead() async throws {
        let transport = ScriptedTransport(always: .delayed(.seconds(600), .status(200, body: body(3))))
        let provider = provider(transport, TimeoutPlugin(idle: .seconds(1)))
        let call = Task { try await provider.request(Ask()) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(600))
        #expect(try await call.value.data.count == 3)
    }

    @Test("A reader that pauses between two chunks does not make a stream idle")
    func slowReader() async throws {
        let transport = ScriptedTransport(always: .status(200, body: body(3)))
        var pieces = try await provider(transport, TimeoutPlugin(idle: .seconds(1))).stream(Ask()).body
            .makeAsyncIterator()
        for _ in 1...3 {
            #expect(clock.sleeperCount == 0)
            clock.advance(by: .seconds(100))
            #expect(try await pieces.next() == Data([7]))
        }
        #expect(try await pieces.next() == nil)
    }

    @Test(
        "After timeout.idle the exchange is closed even if the reader keeps the stream, and the error persists"
    )
    func idleCloses() async throws {
        let (closed, told) = AsyncStream.makeStream(of: Never.self)
        let bytes = SlowBytes(count: 1, every: .zero, clock: clock, hangs: true, onClose: { told.finish() })
        let transport = ScriptedTransport(always: .status(200, body: .stream(bytes)))
        let response = try await provider(transport, TimeoutPlugin(idle: .seconds(1))).stream(Ask())
        var pieces = response.body.makeAsyncIterator()
        #expect(try await pieces.next() == Data([7]))
        async let moved = clock.advanceToNextSleeper()
        for _ in 1...2 {
            let error = await #expect(throws: PipelineError.self) { _ = try await pieces.next() }
            #expect(error?.code == .timeout(.idle))
        }
        _ = try await moved
        for await _ in closed {}
    }

    @Test("With an idle timeout the transport is asked to stream the body", arguments: [true, false])
    func wantsStream(isTimed: Bool) async throws {
        let seen = Mutex<[Bool]>([])
        let transport = ScriptedTransport(
            always: .answer { request, context in
                seen.withLock { $0.append(context.wantsStream) }
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let plugin = isTimed ? TimeoutPlugin(idle: .seconds(1)) : TimeoutPlugin(attempt: .seconds(1))
        _ = try await provider(transport, plugin).request(Ask())
        #expect(seen.withLock { $0 } == [isTimed])
        #expect(clock.sleeperCount == 0)
    }

    /// Enforces idle timeouts of a second or more, and records whether each call wants a stream.
    private final class Enforcing: Transport {
        let decodesContent = false
        private let seen = Mutex<[Bool]>([])

        var wantedStreams: [Bool] { seen.withLock { $0 } }

        func enforcesIdleTimeout(_ timeout: Duration) -> Bool { timeout >= .seconds(1) }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            seen.withLock { $0.append(context.wantsStream) }
            return PipelineResponse(request: request, statusCode: 200)
        }
    }

    @Test(
        "A transport that enforces the idle timeout buffers unless the clock is virtual or the call streams",
        arguments: [
            (.seconds(60), isVirtual: false, isStreamed: false, isStream: false),
            (.milliseconds(10), isVirtual: false, isStreamed: false, isStream: true),
            (.seconds(60), isVirtual: true, isStreamed: false, isStream: true),
            (.seconds(60), isVirtual: false, isStreamed: true, isStream: true),
        ] as [(Duration, isVirtual: Bool, isStreamed: Bool, isStream: Bool)]
    )
    func enforcingTransport(idle: Duration, isVirtual: Bool, isStreamed: Bool, isStream: Bool) async throws {
        let transport = Enforcing()
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [TimeoutPlugin(idle: idle)],
            configuration: isVirtual ? .init(clock: clock) : .init()
        )
        if isStreamed { _ = try await provider.stream(Ask()) } else { _ = try await provider.request(Ask()) }
        #expect(transport.wantedStreams == [isStream])
    }

    @Test("The core times a stream even if its transport enforces idle timeouts")
    func enforcingTransportStreams() async throws {
        let (begun, silence) = AsyncStream.makeStream(of: Never.self)
        let bytes = SlowBytes(count: 1, every: .zero, clock: clock, hangs: true) { silence.finish() }
        let transport = Streaming(body: .stream(bytes))
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [TimeoutPlugin(idle: .seconds(1))],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.request(Ask()) }
        for await _ in begun {}
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        #expect(await call.pipelineError?.code == .timeout(.idle))
    }

    /// Claims to enforce idle timeouts and returns a given body.
    private struct Streaming: Transport {
        let decodesContent = false
        let body: PipelineBody

        func enforcesIdleTimeout(_ timeout: Duration) -> Bool { true }

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: body)
        }
    }

    @Test("A call cancelled while it waits for bytes ends as cancelled", arguments: Reading.allCases)
    private func cancelledBody(reading: Reading) async throws {
        let transport = ScriptedTransport(always: .status(200, body: body(3, hangs: true)))
        let provider = provider(
            transport,
            TimeoutPlugin(attempt: .seconds(50), total: .seconds(60), idle: .seconds(1))
        )
        let file = Self.makeFile()
        let call = Task { try await read(reading, provider, file) }
        // The limit of the attempt does not apply to a file.
        try await clock.waitForSleepers(reading == .buffered ? 3 : 2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test(
        "C08 A response that stalls in its header fields is timeout.attempt, in its body timeout.idle",
        arguments: [0..<200, 200..<400]
    )
    func stallsAtAnyByte(byteCounts: Range<Int>) async throws {
        let headByteCount = 200
        for byteCount in byteCounts {
            let (begun, silence) = AsyncStream.makeStream(of: Never.self)
            let rest = byteCount - headByteCount
            let bytes = SlowBytes(count: max(rest, 0), every: .zero, clock: clock, hangs: true) { silence.finish() }
            if rest < 0 { silence.finish() }
            let provider = provider(
                ScriptedTransport(always: rest < 0 ? .hang : .status(200, body: .stream(bytes, byteCount: 200))),
                TimeoutPlugin(attempt: .seconds(10), idle: .seconds(2))
            )
            let call = Task { try await provider.request(Ask()) }
            for await _ in begun {}
            try await clock.waitForSleepers(rest < 0 ? 1 : 2)
            clock.advance(by: .seconds(rest < 0 ? 10 : 2))
            #expect(await call.pipelineError?.code == .timeout(rest < 0 ? .attempt : .idle))
        }
    }

    // MARK: Defaults and options

    @Test("A timeout of the call overrides the plugin's", arguments: [2, 20])
    func options(seconds: Int) async throws {
        let own = Duration.seconds(seconds)
        let plugin = TimeoutPlugin(attempt: .seconds(5), total: .seconds(5), idle: .seconds(5))
        let never = ScriptedTransport(always: .hang)
        let silent = ScriptedTransport(always: .status(200, body: body(0, hangs: true)))
        let years = Duration.seconds(Int64.max)
        let cases: [(ScriptedTransport, RequestOptions, PipelineError.Code)] = [
            (never, .init { ($0.attemptTimeout, $0.totalTimeout) = (own, years) }, .timeout(.attempt)),
            (never, .init { ($0.attemptTimeout, $0.totalTimeout) = (years, own) }, .timeout(.total)),
            (
                silent,
                .init { ($0.attemptTimeout, $0.totalTimeout, $0.idleTimeout) = (years, years, own) }, .timeout(.idle)
            ),
        ]
        for (transport, options, code) in cases {
            let provider = provider(transport, plugin)
            let call = Task { try await provider.request(Ask(), options: options) }
            try await clock.waitForSleepers(code == .timeout(.idle) ? 3 : 2)
            #expect(try await clock.advanceToNextSleeper() == own)
            #expect(await call.pipelineError?.code == code)
        }
    }

    @Test("The attempt and idle timeouts of an inner TimeoutPlugin win, and the stack reports it")
    func two() async throws {
        let outer = TimeoutPlugin(attempt: .seconds(1), idle: .seconds(2))
        let inner = TimeoutPlugin(attempt: .seconds(3), idle: .seconds(4))
        let seen = Mutex<[Duration?]>([])
        let spy = PluginStack.willSend { request, _ in
            seen.withLock { $0 += [request.attemptTimeout, request.idleTimeout] }
        }
        let provider = provider(ScriptedTransport(always: .status(200)), outer, inner, spy)
        _ = try await provider.request(Ask())
        #expect(seen.withLock { $0 } == [.seconds(3), .seconds(4)])
        let findings = provider.explain().findings.map(\.message)
        #expect(findings.count == 2)
        #expect(findings.first?.contains("used twice: the attempt timeout") == true)
        #expect(findings.last?.contains("used twice: the idle timeout") == true)
    }

    @Test("Plugins that set different timeouts do not affect each other and cause no finding")
    func split() async throws {
        let seen = Mutex<[Duration?]>([])
        let spy = PluginStack.willSend { request, _ in
            seen.withLock { $0 += [request.attemptTimeout, request.idleTimeout] }
        }
        let provider = provider(
            ScriptedTransport(always: .status(200)),
            TimeoutPlugin(attempt: .seconds(1)),
            TimeoutPlugin(idle: .seconds(2)),
            TimeoutPlugin(total: .seconds(9)),
            spy
        )
        _ = try await provider.request(Ask())
        #expect(seen.withLock { $0 } == [.seconds(1), .seconds(2)])
        #expect(provider.explain().findings.isEmpty)
    }

    @Test("explain() finds an attempt timeout that is longer than the total timeout of another plugin")
    func conflict() {
        let provider = Provider<Ask>(
            transport: ScriptedTransport([]),
            plugins: [TimeoutPlugin(total: .seconds(30)), TimeoutPlugin(attempt: .seconds(40))]
        )
        let findings = provider.explain().findings
        #expect(findings.map(\.id) == ["attempt-longer-than-total"])
        #expect(findings.first?.positions == [1, 2])
        #expect(findings.first?.problem == "an attempt may take 40 s, the whole call only 30 s")
    }

    @Test("An invalid timeout traps with a message that names it")
    func preconditions() async throws {
        let nothing = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TimeoutPlugin()
        }
        let zero = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TimeoutPlugin(attempt: .zero)
        }
        let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TimeoutPlugin(total: .seconds(1), idle: .seconds(-3))
        }
        let long = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TimeoutPlugin(attempt: .seconds(9), total: .seconds(7))
        }
        let texts = try [nothing, zero, negative, long].map {
            String(decoding: try #require($0).standardErrorContent, as: UTF8.self)
        }
        #expect(texts[0].contains("attempt, total and idle are nil"))
        #expect(texts[1].contains("attempt is 0.0 seconds, not more than zero"))
        #expect(texts[2].contains("idle is -3.0 seconds, not more than zero"))
        #expect(texts[3].contains("attempt is 9.0 seconds, longer than total, 7.0 seconds"))
    }

    @Test("An invalid option traps")
    func optionPreconditions() async {
        await #expect(processExitsWith: .failure) { _ = RequestOptions { $0.totalTimeout = .zero } }
        await #expect(processExitsWith: .failure) { _ = RequestOptions { $0.idleTimeout = .seconds(-1) } }
        await #expect(processExitsWith: .failure) {
            var request = try PipelineRequest(url: "https://a.test")
            request.attemptTimeout = .zero
        }
    }

    @Test("V09: the attempt timeout of the plugin leaves downloads and uploads of unknown size alone")
    func transfers() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<Ask>(transport: transport, plugins: [TimeoutPlugin(attempt: .seconds(30))])
        let file = FileManager.default.temporaryDirectory.appending(path: "timeout-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = PipelineBody.stream(byteCount: nil) { AsyncStream { $0.finish() } }
        _ = try await provider.request(Ask(method: .post, task: .requestStream(stream)))
        _ = try await provider.request(Ask(task: .downloadDestination(.file(file, options: .removePreviousFile))))
        _ = try await provider.request(Ask(method: .post, task: .requestData(Data("x".utf8))))
        _ = try await provider.request(Ask())
        #expect(transport.sent.map(\.attemptTimeout) == [nil, nil, .seconds(30), .seconds(30)])
    }
}
