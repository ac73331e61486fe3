import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("The work of stores", .tags(.concurrent), .watched)
struct StoreWorkTests {
    private let work = StoreWork()
    private let manual = ManualClock()

    private func run(
        _ operation: StoreOperation = .append,
        _ value: @escaping @Sendable () async throws -> Int?
    ) -> Task<Int?, any Error> {
        Task { [work, manual] in
            try await work.run(operation, on: PipelineClock(manual), value)
        }
    }

    /// Begins 64 operations that end when the gate opens.
    private func fill(
        _ gate: AsyncStream<Never>,
        _ operation: StoreOperation = .append
    ) async -> [Task<Int?, any Error>] {
        let begun = Mutex(0)
        let calls = (0..<64).map { _ in
            run(operation) {
                begun.withLock { $0 += 1 }
                await Task { for await _ in gate {} }.value
                return 1
            }
        }
        await eventually { begun.withLock { $0 } == 64 }
        return calls
    }

    @Test("K01: at most 64 operations are in progress, and those that come later run in their order")
    func bound() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let first = await fill(gate)
        let begun = Mutex<[Int]>([])
        var later: [Task<Int?, any Error>] = []
        for number in 0..<300 {
            later.append(
                run {
                    begun.withLock { $0.append(number) }
                    return number
                }
            )
            await eventually { work.waitingCount == number + 1 }
        }
        #expect(begun.withLock { $0 } == [])
        open.finish()
        for call in first { #expect(try await call.value == 1) }
        for (number, call) in later.enumerated() { #expect(try await call.value == number) }
        #expect(begun.withLock { $0 }.count == 300)
        #expect(try await run { 1 }.value == 1)
        #expect(work.waitingCount == 0)
    }

    @Test("K01: a store whose operations are all late is not waited for, and works again when one of them has ended")
    func hanging() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let first = await fill(gate)
        let waiting = run { 2 }
        await eventually { work.waitingCount == 1 }
        await eventually { manual.sleeperCount == 65 }
        manual.advance(by: .seconds(1))
        for call in first + [waiting] {
            let error = await #expect(throws: PipelineError.self) { _ = try await call.value }
            #expect(error?.code == .cacheUnavailable)
        }
        let error = await #expect(throws: PipelineError.self) { _ = try await run { 1 }.value }
        #expect(error?.reason == "the cache has 64 operations in progress that no call waits for any more")
        open.finish()
        await eventually { work.runningCount == 0 }
        for _ in 1...100 { #expect(try await run { 1 }.value == 1) }
    }

    @Test("K01: operations whose callers were cancelled are late as well, so later ones do not wait for them")
    func abandoned() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let first = await fill(gate)
        let waiting = run(.onlyLookup) { 2 }
        await eventually { work.waitingCount == 1 }
        for call in first { call.cancel() }
        for call in first { await #expect(throws: CancellationError.self) { try await call.value } }
        for call in [waiting, run { 1 }] {
            let error = await #expect(throws: PipelineError.self) { _ = try await call.value }
            #expect(error?.code == .cacheUnavailable)
        }
        #expect(work.waitingCount == 0)
        open.finish()
        await eventually { work.runningCount == 0 }
        #expect(try await run { 1 }.value == 1)
    }

    @Test("K01: an operation without a limit waits for its turn as long as its call, and leaves when that is cancelled")
    func patient() async throws {
        let (gate, open) = AsyncStream<Never>.makeStream()
        let first = await fill(gate, .onlyLookup)
        let (patient, cancelled) = (run(.onlyLookup) { 2 }, run(.onlyLookup) { 3 })
        await eventually { work.waitingCount == 2 }
        manual.advance(by: .seconds(3600))
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(work.waitingCount == 1)
        open.finish()
        #expect(try await patient.value == 2)
        for call in first { #expect(try await call.value == 1) }
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
