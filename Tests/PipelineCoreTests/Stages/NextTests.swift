import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Stages: next in its own task", .tags(.concurrent), .watched)
struct NextTests {
    private typealias Outcome = Result<PipelineResponse, any Error>

    /// Starts a call of `next`, returns without waiting for it, and passes its outcome on.
    private struct Starter: Stage.Intercept {
        let outcomes: AsyncStream<Outcome>.Continuation
        let tasks: AsyncStream<Task<Void, Never>>.Continuation

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            tasks.yield(next.start(request) { outcomes.yield($0) })
            return PipelineResponse(request: request, statusCode: 202)
        }
    }

    private static func outcome(
        of step: ScriptedTransport.Step,
        inside: [any PluginType] = [],
        then act: (Task<Void, Never>) async -> Void = { _ in }
    ) async throws -> (PipelineResponse, Outcome?) {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self)
        let (tasks, task) = AsyncStream.makeStream(of: Task<Void, Never>.self)
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: step),
            plugins: [Starter(outcomes: outcome, tasks: task)] + inside
        )
        let response = try await provider.request(TestTarget())
        var iterator = tasks.makeAsyncIterator()
        if let work = await iterator.next() { await act(work) }
        var ends = outcomes.makeAsyncIterator()
        return (response, await ends.next())
    }

    @Test("Work that never suspends has ended when start returns, if the system can start it immediately")
    func immediate() async throws {
        let ends = Mutex(0)
        let seen = Mutex<Int?>(nil)
        let plugin = PluginStack.intercept { request, _, next in
            let task = next.start(request) { _ in ends.withLock { $0 += 1 } }
            seen.withLock { $0 = ends.withLock { $0 } }
            await task.value
            return PipelineResponse(request: request, statusCode: 202)
        }
        let provider = Provider<TestTarget>(transport: Immediate(), plugins: [plugin])
        _ = try await provider.request(TestTarget())
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { #expect(seen.withLock { $0 } == 1) }
        #expect(ends.withLock { $0 } == 1)
    }

    /// Responds without suspending.
    private struct Immediate: Transport {
        let decodesContent = false

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            PipelineResponse(request: request, statusCode: 200)
        }
    }

    @Test("Started work continues after the interceptor and its call have ended, with the interceptors inside")
    func goesOn() async throws {
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let step = ScriptedTransport.Step.answer { request, context in
            if context.attempt == 1 { for await _ in gate { break } }
            return PipelineResponse(request: request, statusCode: 200 + context.attempt)
        }
        let (response, outcome) = try await Self.outcome(of: step, inside: [again, again]) { _ in opener.finish() }
        #expect(response.statusCode == 202)
        #expect(response.exchanges.isEmpty)
        let end = try #require(try outcome?.get())
        #expect(end.exchanges.count == 4)
    }

    @Test("Cancelling its task cancels started work, which ends as a call of next does")
    func cancel() async throws {
        let (_, cancelled) = try await Self.outcome(of: .hang) { $0.cancel() }
        #expect(throws: CancellationError.self) { try cancelled?.get() }
        let (_, failed) = try await Self.outcome(of: .failure(.connectionLost))
        #expect(throws: PipelineError.self) { try failed?.get() }
    }

    @Test("Started work is not cancelled with the call that started it")
    func callCancelled() async throws {
        let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self)
        let clock = ManualClock()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .delayed(.seconds(1), .status(200))),
            plugins: [
                .intercept { request, context, next in
                    _ = next.start(request) { outcome.yield($0) }
                    try await context.clock.sleep(for: .seconds(60))
                    return PipelineResponse(request: request, statusCode: 202)
                }
            ],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.request(TestTarget()) }
        try await clock.waitForSleepers(2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        clock.advance(by: .seconds(1))
        var iterator = outcomes.makeAsyncIterator()
        #expect(try await iterator.next()?.get().statusCode == 200)
    }

    @Test("start counts as a call of next: each is a new attempt, and it fails after the interceptor returns")
    func counts() async throws {
        let (nexts, kept) = AsyncStream.makeStream(of: (PipelineRequest, Stage.Next).self)
        let attempts = Mutex<[Int]>([])
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .intercept { request, _, next in
                    kept.yield((request, next))
                    await next.start(request) { _ in }.value
                    await next.start(request) { _ in }.value
                    return try await next(request)
                },
                .prepare { _, context in attempts.withLock { $0.append(context.attempt) } },
            ]
        )
        _ = try await provider.request(TestTarget())
        #expect(attempts.withLock { $0 } == [1, 2, 3])
        var iterator = nexts.makeAsyncIterator()
        let (request, next) = try #require(await iterator.next())
        let code = Mutex<PipelineError.Code?>(nil)
        await next.start(request) { end in
            if case .failure(let error as PipelineError) = end { code.withLock { $0 = error.code } }
        }.value
        #expect(code.withLock { $0 } == .plugin)
        #expect(transport.sent.count == 3)
    }

    @Test("A position is equal for all calls of a provider and differs between providers and plugins")
    func position() async throws {
        let positions = Mutex<[Stage.Position]>([])
        let plugin = PluginStack.intercept { request, _, next in
            positions.withLock { $0.append(next.position) }
            return try await next(request)
        }
        let transport = ScriptedTransport(always: .status(200))
        let one = Provider<TestTarget>(transport: transport, plugins: [plugin, plugin])
        let other = Provider<TestTarget>(transport: transport, plugins: [plugin])
        for provider in [one, one, other] { _ = try await provider.request(TestTarget()) }
        let found = positions.withLock { $0 }
        #expect(found.count == 5)
        #expect(Array(found[0...1]) == Array(found[2...3]))
        #expect(Set(found).count == 3)
    }
}
