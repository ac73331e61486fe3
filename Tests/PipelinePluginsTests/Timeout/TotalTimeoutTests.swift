import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TimeoutPlugin: total", .tags(.concurrent), .watched)
struct TotalTimeoutTests {
    private let clock = ManualClock()

    private func provider(_ transport: ScriptedTransport, _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    @Test("The total covers all attempts and waits, and the error lists the exchanges so far")
    func allAttempts() async throws {
        let transport = ScriptedTransport { _, index in .delayed(.seconds(2), .status(503)) }
        let provider = provider(transport, TimeoutPlugin(total: .seconds(7)), .sendingAgain(9, after: .seconds(1)))
        let call = Task { try await provider.request(Ask()) }
        for step in [2, 1, 2, 1, 1] {
            try await clock.waitForSleepers(2)
            clock.advance(by: .seconds(step))
        }
        let error = await call.pipelineError
        #expect(error?.code == .timeout(.total))
        #expect(error?.reason == "the call took longer than 7000 ms")
        #expect(error?.exchanges.map(\.statusCode) == [503, 503, nil])
        #expect(error?.exchanges.last?.failure == .cancelled)
        #expect(clock.sleeperCount == 0)
    }

    @Test("The total counts from the start of the call, including the work of outer plugins")
    func fromTheStart() async throws {
        let provider = provider(
            ScriptedTransport(always: .hang),
            .prepare { _, context in try await context.clock.sleep(for: .seconds(4)) },
            TimeoutPlugin(total: .seconds(5))
        )
        let call = Task { try await provider.request(Ask()) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(4))
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        #expect(await call.pipelineError?.code == .timeout(.total))
    }

    @Test("The total does not interrupt an outer plugin's wait; if it expires there, nothing inside starts")
    func upBefore() async throws {
        let journal = TimeJournal()
        let transport = ScriptedTransport(always: .status(200))
        let provider = provider(
            transport,
            .intercept(name: "slow") { request, context, next in
                try await context.clock.sleep(for: .seconds(60))
                return try await next(request)
            },
            TimeoutPlugin(total: .seconds(5)),
            .prepare { _, _ in journal.add("prepare") },
            .process { _, _ in journal.add("process") }
        )
        let call = Task { try await provider.request(Ask()) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(60))
        #expect(await call.pipelineError?.code == .timeout(.total))
        #expect(transport.sent.isEmpty)
        #expect(journal.entries.isEmpty)
        let notes = provider.explain().hints.map(\.message)
        #expect(notes == ["TimeoutPlugin is inside slow: it does not cover what the outer plugin waits for"])
    }

    @Test(
        "Every plugin sees the total as the call's deadline; without a total there is no deadline",
        arguments: [true, false]
    )
    func deadline(isTotal: Bool) async throws {
        let seen = Mutex<[Duration?]>([])
        let provider = provider(
            ScriptedTransport(always: .status(200)),
            isTotal ? TimeoutPlugin(total: .seconds(5)) : TimeoutPlugin(attempt: .seconds(5)),
            .intercept { request, context, next in
                seen.withLock { $0.append(context.deadline.map { context.start.duration(to: $0) }) }
                return try await next(request)
            }
        )
        _ = try await provider.request(Ask())
        _ = try await provider.request(Ask(), options: .init { $0.totalTimeout = .seconds(9) })
        #expect(seen.withLock { $0 } == [isTotal ? .seconds(5) : nil, .seconds(9)])
    }

    @Test("On timeout, the work inside is cancelled, and the call ends only after that work has ended")
    func waitsForTheInside() async throws {
        let journal = TimeJournal()
        let transport = ScriptedTransport(
            always: .answer { _, context in
                defer { journal.add("transport ended") }
                try await context.clock.sleep(for: .seconds(60))
                throw CancellationError()
            }
        )
        let provider = provider(transport, TimeoutPlugin(total: .seconds(5)))
        let call = Task {
            defer { journal.add("call ended") }
            return try await provider.request(Ask())
        }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(5))
        #expect(await call.pipelineError?.code == .timeout(.total))
        #expect(journal.entries == ["transport ended", "call ended"])
    }

    @Test("The shorter of two totals ends the call", arguments: [true, false])
    func two(isOuterShorter: Bool) async throws {
        let (short, long) = (TimeoutPlugin(total: .seconds(3)), TimeoutPlugin(total: .seconds(8)))
        let transport = ScriptedTransport(always: .hang)
        let provider = isOuterShorter ? provider(transport, short, long) : provider(transport, long, short)
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers(2)
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        let error = await call.pipelineError
        #expect(error?.reason == "the call took longer than 3000 ms")
        #expect(provider.explain().findings.isEmpty)
    }

    @Test(
        "C12 A slow-loris body never becomes idle, and the total ends it",
        arguments: [true, false]
    )
    func slowLoris(isStreaming: Bool) async throws {
        let bytes = SlowBytes(count: 1_000, every: .milliseconds(500), clock: clock)
        let transport = ScriptedTransport(always: .status(200, body: .stream(bytes)))
        let provider = provider(transport, TimeoutPlugin(total: .milliseconds(5_250), idle: .seconds(1)))
        let call = Task {
            guard isStreaming else { return try await provider.request(Ask()).data.count }
            for try await _ in try await provider.stream(Ask()).body {}
            return 0
        }
        for _ in 1...10 {
            try await clock.waitForSleepers(3)
            clock.advance(by: .milliseconds(500))
        }
        try await clock.waitForSleepers(3)
        clock.advance(by: .milliseconds(250))
        #expect(await call.pipelineError?.code == .timeout(.total))
        #expect(clock.sleeperCount == 0)
    }

    @Test("Reading a streamed body after the total fails and closes the exchange")
    func streamReadTooLate() async throws {
        let (closed, told) = AsyncStream.makeStream(of: Never.self)
        let bytes = SlowBytes(count: 9, every: .zero, clock: clock, onClose: { told.finish() })
        let transport = ScriptedTransport(always: .status(200, body: .stream(bytes)))
        let response = try await provider(transport, TimeoutPlugin(total: .seconds(5))).stream(Ask())
        var pieces = response.body.makeAsyncIterator()
        #expect(try await pieces.next() == Data([7]))
        #expect(clock.sleeperCount == 0)
        clock.advance(by: .seconds(4))
        #expect(try await pieces.next() == Data([7]))
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: PipelineError.self) { _ = try await pieces.next() }
        #expect(error?.code == .timeout(.total))
        for await _ in closed {}
        await #expect(throws: PipelineError.self) { _ = try await pieces.next() }
    }

    @Test("A cancelled call ends at once as cancelled, and other failures pass through")
    func passesOn() async throws {
        let provider = provider(
            ScriptedTransport([.hang, .failure(.dns), .status(500)]),
            TimeoutPlugin(attempt: .seconds(5), total: .seconds(5))
        )
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers(2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(clock.sleeperCount == 0)
        let failed = Task { try await provider.request(Ask()) }
        #expect(await failed.pipelineError?.code == .dns)
        #expect(try await provider.request(Ask()).statusCode == 500)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A call without a timeout is left unchanged")
    func untouched() async throws {
        let provider = provider(
            ScriptedTransport(
                always: .answer { request, context in
                    #expect(context.deadline == nil)
                    #expect(request.attemptTimeout == nil)
                    #expect(request.idleTimeout == .seconds(1))
                    return PipelineResponse(request: request, statusCode: 200)
                }
            ),
            TimeoutPlugin(idle: .seconds(1))
        )
        #expect(try await provider.request(Ask()).statusCode == 200)
    }

    // MARK: Faults

    @Test(
        "T08 A retry that heeds the deadline fails at once with its last error; otherwise the total ends it",
        arguments: [true, false]
    )
    func backoff(heeds: Bool) async throws {
        let transport = ScriptedTransport(always: .failure(.connectionLost))
        let careless = PluginStack.intercept { request, context, next in
            _ = try? await next(request)
            try await context.clock.sleep(for: .seconds(60))
            return try await next(request)
        }
        let retry = heeds ? PluginStack.sendingAgain(3, after: .seconds(60)) : careless
        let provider = provider(transport, TimeoutPlugin(total: .seconds(5)), retry)
        let call = Task { try await provider.request(Ask()) }
        if !heeds {
            try await clock.waitForSleepers(2)
            #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        }
        #expect(await call.pipelineError?.code == (heeds ? .connectionLost : .timeout(.total)))
        #expect(transport.sent.count == 1)
        #expect(clock.now.offset <= .seconds(5))
    }

    enum Hook: CaseIterable, Sendable {
        case prepare
        case before
        case after
        case process
    }

    @Test(
        "P02 The total ends a call whose plugin hangs in any hook, and does not affect other calls",
        arguments: Hook.allCases
    )
    func hangs(hook: Hook) async throws {
        @Sendable func hang(_ path: String, _ context: PipelineContext, at other: Hook) async throws {
            guard hook == other, path == "/hang" else { return }
            let never = AsyncStream<Never> { _ in }
            for await _ in never {}
            try Task.checkCancellation()
        }
        let provider = provider(
            ScriptedTransport(always: .status(200)),
            TimeoutPlugin(total: .seconds(5)),
            .prepare { request, context in try await hang(request.path, context, at: .prepare) },
            .intercept { request, context, next in
                try await hang(request.path, context, at: .before)
                let response = try await next(request)
                try await hang(request.path, context, at: .after)
                return response
            },
            .process { result, context in
                if case .success(let response) = result {
                    try? await hang(response.request.path, context, at: .process)
                }
            }
        )
        let call = Task { try await provider.request(Ask(path: "hang")) }
        try await clock.waitForSleepers()
        #expect(try await provider.request(Ask()).statusCode == 200)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(await call.pipelineError?.code == .timeout(.total))
        #expect(try await provider.request(Ask()).statusCode == 200)
    }

    /// A plugin that makes all calls wait for the response to the first.
    private final class Sharing: Stage.Intercept {
        let name: String
        private let waiting = Mutex<[AsyncStream<PipelineResponse>.Continuation]>([])
        private let isTaken = Atomic(false)

        init(name: String) { self.name = name }

        var waitingCount: Int { waiting.withLock { $0.count } }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            if !isTaken.exchange(true, ordering: .acquiringAndReleasing) {
                let response = try await next(request)
                for other in waiting.withLock({ $0 }) { other.yield(response) }
                return response
            }
            let (answers, continuation) = AsyncStream.makeStream(of: PipelineResponse.self)
            waiting.withLock { $0.append(continuation) }
            for await answer in answers { return answer }
            throw CancellationError()
        }
    }

    @Test("D07 Outside a plugin that shares requests, a call that times out ends alone")
    func shared() async throws {
        let sharing = Sharing(name: "shared")
        let transport = ScriptedTransport(always: .delayed(.seconds(10), .status(200, body: "one")))
        let provider = provider(transport, TimeoutPlugin(total: .seconds(60)), sharing)
        let first = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers(2)
        let hurried = Task { try await provider.request(Ask(), options: .init { $0.totalTimeout = .seconds(5) }) }
        let patient = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers(4)
        await eventually { sharing.waitingCount >= 2 }
        clock.advance(by: .seconds(5))
        #expect(await hurried.pipelineError?.code == .timeout(.total))
        clock.advance(by: .seconds(5))
        #expect(try await first.value.data == Data("one".utf8))
        #expect(try await patient.value.data == Data("one".utf8))
        #expect(transport.sent.count == 1)
    }

    @Test(
        "A total inside a plugin that retries or shares is a finding",
        arguments: [RetryPlugin(), DeduplicationPlugin()] as [any PluginType]
    )
    func findings(other: any PluginType) {
        let transport = ScriptedTransport(always: .status(200))
        let total = TimeoutPlugin(total: .seconds(5))
        let inside = provider(transport, other, total).explain()
        #expect(inside.findings.map(\.plugins) == [["TimeoutPlugin", other.name]])
        #expect(inside.findings.allSatisfy { $0.id.hasPrefix("span-inside-") })
        #expect(inside.hints.allSatisfy { $0.id != "span-inside-interceptor" })
        #expect(provider(transport, total, other).explain().findings.isEmpty)
        #expect(provider(transport, other, TimeoutPlugin(attempt: .seconds(5))).explain().findings.isEmpty)
        let watched = provider(transport, ActivityPlugin { _ in }, MinimumDurationPlugin(.zero), total).explain()
        #expect(watched.findings + watched.hints == [])
    }
}
