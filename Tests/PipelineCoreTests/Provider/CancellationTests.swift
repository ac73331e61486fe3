import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Cancellation: rule 6", .tags(.concurrent), .watched)
struct CancellationTests {
    private let journal = Journal()

    @Test("Rule 6: cancelling reaches the transport, and the caller gets CancellationError")
    func reachesTheTransport() async throws {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedTransport(
            always: .answer { [journal] request, context in
                continuation.yield()
                defer { journal.add("transport ended") }
                try await context.clock.sleep(for: .seconds(60))
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [Observer(name: "O", journal: journal)],
            configuration: .init(clock: ManualClock())
        )
        let call = Task { try await provider.request(TestTarget()) }
        for await _ in started { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.entries == ["O.willSend 1.0", "transport ended", "O.didReceive cancelled"])
    }

    @Test("Rule 6: a waiting plugin stops immediately", arguments: ["prepare", "intercept", "process"])
    func waitingPluginStops(stage: String) async throws {
        let clock = ManualClock()
        let plugin: any PluginType =
            switch stage {
            case "prepare": .prepare { _, context in try await context.clock.sleep(for: .seconds(60)) }
            case "intercept":
                .intercept { request, context, next in
                    try await context.clock.sleep(for: .seconds(60))
                    return try await next(request)
                }
            default:
                .process { result, context in
                    do {
                        try await context.clock.sleep(for: .seconds(60))
                    } catch {
                        result = .failure(PipelineError(.cancelled, "stopped waiting"))
                    }
                }
            }
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [plugin],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.request(TestTarget()) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("Rule 6: a call cancelled before it begins sends nothing and runs no plugin")
    func cancelledBeforeStart() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [Layer(name: "A", journal: journal)]
        )
        let call = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await provider.request(TestTarget())
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(transport.sent.isEmpty)
        #expect(journal.entries.isEmpty)
    }

    private struct Canceller: Stage.Prepare, Stage.Process {
        let journal: Journal

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            journal.add("C.prepare")
            withUnsafeCurrentTask { $0?.cancel() }
        }

        func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
            if case .failure(let error) = result { journal.add("C.process \(error.code)") }
        }
    }

    @Test("Rule 6 (I5): after a cancellation, no later prepare runs, and each prepared plugin sees the result")
    func nothingLaterRuns() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                Layer(name: "A", journal: journal),
                Canceller(journal: journal),
                Layer(name: "B", journal: journal),
            ]
        )
        let call = Task { try await provider.request(TestTarget()) }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(journal.entries == ["A.prepare", "C.prepare", "C.process cancelled", "A.process"])
    }

    /// Cancels its own task when the count of steps is reached.
    private final class Stepper: Sendable {
        private let rest: Mutex<Int>

        init(_ step: Int) {
            rest = Mutex(step)
        }

        func step() {
            let isDue = rest.withLock { rest in
                rest -= 1
                return rest == 0
            }
            if isDue { withUnsafeCurrentTask { $0?.cancel() } }
        }
    }

    @Test(
        "Rule 6 (P06): a call cancelled at any step ends once with CancellationError, and the next call works",
        arguments: 1...10
    )
    func cancelledAtAnyStep(step: Int) async throws {
        let stepper = Stepper(step)
        let transport = ScriptedTransport(
            always: .answer { request, _ in
                stepper.step()
                try Task.checkCancellation()
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                Observer(name: "O", journal: journal),
                .prepare { _, _ in stepper.step() },
                .willSend { _, _ in stepper.step() },
                .didReceive { _, _ in stepper.step() },
                .intercept { request, _, next in
                    stepper.step()
                    let response = try await next(request)
                    stepper.step()
                    return try await next(response.request)
                },
                .prepare { _, _ in stepper.step() },
            ]
        )
        let outcome = await Task { try await provider.request(TestTarget()) }.result
        // Steps: prepare, intercept, prepare, willSend, transport, didReceive, intercept, prepare, willSend, transport.
        #expect(throws: CancellationError.self) { try outcome.get() }
        let sent = journal.entries.count { $0.hasPrefix("O.willSend") }
        let received = journal.entries.count { $0.hasPrefix("O.didReceive") }
        #expect(sent == received)
        #expect(sent == [0, 0, 0, 1, 1, 1, 1, 1, 2, 2][step - 1])
        #expect(try await provider.request(TestTarget()).statusCode == 200)
    }

    @Test("Rule 6: if a plugin replaces a cancellation by another error, the caller still gets CancellationError")
    func otherErrorsOfCancellation() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                .prepare { _, _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                    throw TestFailure()
                }
            ]
        )
        let call = Task { try await provider.request(TestTarget()) }
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test("Rule 6: a response that exists when the cancellation arrives is the result")
    func cancelledAfterTheAnswer() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [.process { _, _ in withUnsafeCurrentTask { $0?.cancel() } }]
        )
        let call = Task { try await provider.request(TestTarget()) }
        #expect(try await call.value.statusCode == 200)
    }

    @Test("Rule 6: a cancelled callback call completes once, with code cancelled, however often it is cancelled")
    func callbackCancelled() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .hang))
        let completions = AsyncStream.makeStream(of: Result<PipelineResponse, PipelineError>.self)
        let handle = provider.request(TestTarget()) { completions.continuation.yield($0) }
        #expect(!handle.isCancelled)
        handle.cancel()
        handle.cancel()
        #expect(handle.isCancelled)
        var iterator = completions.stream.makeAsyncIterator()
        let result = await iterator.next()
        #expect(throws: PipelineError.self) { try result?.get() }
        guard case .failure(let error)? = result else { return }
        #expect(error.code == .cancelled)
        handle.cancel()
        completions.continuation.finish()
        #expect(await iterator.next() == nil)
    }

    @Test("P07: 200 calls cancelled at seeded moments each end once, with a response or CancellationError")
    func cancelRace() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport { _, _ in
                .answer { request, _ in
                    for _ in 0..<3 { await Task.yield() }
                    try Task.checkCancellation()
                    return PipelineResponse(request: request, statusCode: 200)
                }
            },
            plugins: [Observer(name: "O", journal: journal)]
        )
        var random = PipelineRandom.seeded(42)
        var outcomes = 0
        for _ in 0..<200 {
            let yields = Int.random(in: 0..<8, using: &random)
            let call = Task { try await provider.request(TestTarget()) }
            for _ in 0..<yields { await Task.yield() }
            call.cancel()
            switch await call.result {
            case .success: outcomes += 1
            case .failure(let error): outcomes += error is CancellationError ? 1 : 0
            }
        }
        #expect(outcomes == 200)
        let entries = journal.entries
        #expect(entries.count { $0.contains("willSend") } == entries.count { $0.contains("didReceive") })
    }
}
