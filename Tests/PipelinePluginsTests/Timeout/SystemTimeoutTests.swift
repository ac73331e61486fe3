import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("TimeoutPlugin: on the system's clocks", .realTime, .watched)
struct SystemTimeoutTests {
    private func run(
        _ total: Duration,
        on clock: some Clock<Duration>,
        _ wait: @escaping @Sendable (PipelineContext) async throws -> Void = { _ in }
    ) async throws -> PipelineResponse {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                try await wait(context)
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [TimeoutPlugin(total: total)],
            configuration: .init(clock: clock)
        )
        return try await provider.request(Ask())
    }

    @Test(
        "A call that takes longer than its limit is cancelled then, on either clock",
        arguments: [PipelineClock(ContinuousClock()), PipelineClock(SuspendingClock())]
    )
    func limit(_ clock: PipelineClock) async throws {
        let start = clock.now
        let error = await #expect(throws: PipelineError.self) {
            try await run(.milliseconds(200), on: clock) { context in
                try await context.clock.sleep(for: .seconds(600))
            }
        }
        #expect(error?.code == .timeout(.total))
        #expect(start.duration(to: clock.now) >= .milliseconds(200))
        #expect(try await run(.seconds(600), on: clock).statusCode == 200)
    }

    @Test("A short limit beside long ones of other calls is kept, and theirs are not used up by it")
    func shortAmongLong() async throws {
        let clock = PipelineClock(ContinuousClock())
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    _ = try await run(.seconds(600), on: clock) { context in
                        try await context.clock.sleep(for: .milliseconds(300))
                    }
                }
            }
            let error = await #expect(throws: PipelineError.self) {
                try await run(.milliseconds(50), on: clock) { context in
                    try await context.clock.sleep(for: .seconds(600))
                }
            }
            #expect(error?.code == .timeout(.total))
            try await group.waitForAll()
        }
    }

    @Test("A cancelled call ends as cancelled, also if it was cancelled before it began to wait")
    func cancelled() async {
        let clock = PipelineClock(ContinuousClock())
        for yields in [0, 1, 1_000] {
            let call = Task {
                try await run(.seconds(600), on: clock) { context in
                    try await context.clock.sleep(for: .seconds(600))
                }
            }
            for _ in 0..<yields { await Task.yield() }
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
    }

    @Test("Work that a cancelled task begins with a limit is cancelled from its start")
    func beginsCancelled() async throws {
        let clock = PipelineClock(ContinuousClock())
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let deadline = clock.now.advanced(by: .seconds(600))
            return try await clock.run(until: deadline, throwing: PipelineError(.timeout(.total), "")) {
                Task.isCancelled
            }
        }
        #expect(try await call.value)
    }
}
