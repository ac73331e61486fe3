import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("The work of stores", .tags(.concurrent), .watched)
struct StoreWorkTests {
    private let work = StoreWork()
    private let clock = PipelineClock(ManualClock())

    private func run(_ value: @escaping @Sendable () async throws -> Int?) -> Task<Int?, any Error> {
        Task { [work, clock] in
            try await work.run(.append, on: clock, value)
        }
    }

    @Test("At most 64 operations are in progress, and one that ends makes room for another")
    func bound() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let begun = Mutex(0)
        var calls: [Task<Int?, any Error>] = []
        for _ in 0..<64 {
            let call = run {
                begun.withLock { $0 += 1 }
                for await _ in gate {}
                return 1
            }
            calls.append(call)
        }
        await eventually { begun.withLock { $0 } == 64 }
        let error = await #expect(throws: PipelineError.self) { _ = try await run { 1 }.value }
        #expect(error?.code == .cacheUnavailable)
        open.finish()
        for call in calls { #expect(try await call.value == 1) }
        for _ in 1...100 { #expect(try await run { 1 }.value == 1) }
    }

    @Test("A cancelled caller leaves at once, and the work is asked to end but ends on its own")
    func cancelled() async throws {
        let isCancelled = Mutex(false)
        let (gate, open) = AsyncStream<Never>.makeStream()
        let (arrival, arrive) = AsyncStream<Never>.makeStream()
        let caller = run {
            await withTaskCancellationHandler {
                arrive.finish()
                await Task { for await _ in gate {} }.value
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
            return 1
        }
        for await _ in arrival {}
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        await eventually { isCancelled.withLock { $0 } }
        open.finish()
    }
}
