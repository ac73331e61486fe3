import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Progress of awaited operations", .tags(.concurrent), .watched)
struct APIOperationProgressTests {
    private let journal = Journal()

    private func requests(_ count: Int) -> [APIRequest<IgnoredBody>] { (1...count).map { APIRequest("\($0)") } }

    /// Lets a second pass after each of these steps.
    private func advance(_ bench: APIBench, after steps: String...) async throws {
        for step in steps {
            await eventually { journal.entries.last == step }
            try await bench.clock.waitForSleepers()
            bench.clock.advance(by: .seconds(1))
        }
    }

    private struct Carried: APIPayload {
        let task: RequestTask
        func encode(to encoder: any Encoder) throws {}
        func makeTask(with coders: ProviderConfiguration.Coders) -> RequestTask { task }
    }

    private static let stream = RequestTask.requestStream(.bytes(Data(repeating: 7, count: 100)))
    private static let upload = APIRequest<IgnoredBody>("x", payload: Carried(task: stream)).method(.post)
    private static let uploads = [
        upload, upload.task(stream), upload.task(upload.task),
        APIRequest<IgnoredBody>("x", payload: Carried(task: upload.task)).method(.post),
    ]

    @Test(
        "C36 A request reports its upload progress, at most 0.999, and then 1 before it returns its value",
        arguments: uploads
    )
    func request(upload: APIRequest<IgnoredBody>) async throws {
        let bench = APIBench(
            .answer { request, context in
                for count in [0, 40, 40, 20, 100] {
                    context.report(.sent(count))
                    if count >= 40 { try await context.clock.sleep(for: .seconds(1)) }
                }
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let task = Task {
            _ = try await bench.api.send(upload) { [journal] in journal.add("\($0)") }
            journal.add("value")
        }
        try await advance(bench, after: "0.4", "0.4", "0.999")
        try await task.value
        #expect(journal.entries == ["0.4", "0.999", "1.0", "value"])
    }

    @Test("A chain reports each part as a share and returns its values")
    func chain() async throws {
        let bench = APIBench(ScriptedTransport(always: .delayed(.seconds(1), .status(200, body: "1"))))
        let chain = APIRequest<Int>("1").and(APIRequest<Int>("2")).and(APIRequest<Int>("3")).and(APIRequest<Int>("4"))
        let task = Task { try await bench.api.send(chain) { [journal] in journal.add("\($0)") } }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        try await advance(bench, after: "0.25", "0.5", "0.75")
        #expect(try await task.value == (1, 1, 1, 1))
        #expect(journal.entries == ["0.25", "0.5", "0.75", "1.0"])
    }

    @Test("A batch reports combined progress, even if operations fail, and returns its outcome", arguments: [1, 3])
    func batch(width: Int) async throws {
        let bench = APIBench(ScriptedTransport { _, index in .status(index == 1 ? 500 : 200, body: "{}") })
        let batch = requests(7).flatten().concurrent(by: width).avoidCancelOnError()
        let outcome = try await bench.api.send(batch) { [journal] in journal.add("\($0)") }
        let steps = journal.entries.compactMap(Double.init)
        #expect(outcome.count == 7 && outcome.failures.count == 1)
        #expect(zip(steps, steps.dropFirst()).allSatisfy(<) && steps.last == 1 && steps.allSatisfy { $0 > 0 })
    }

    @Test("An empty batch reports only 1")
    func emptyBatch() async throws {
        _ = try await APIBench().api.send([any APIOperation]().flatten()) { [journal] in journal.add("\($0)") }
        #expect(journal.entries == ["1.0"])
    }

    @Test("A failure is thrown unchanged, and progress 1 is not reported")
    func failure() async throws {
        let bench = APIBench(.status(200, body: "{}"), .status(404))
        let chain = APIRequest<IgnoredBody>("1").and(
            APIRequest<IgnoredBody>("2").addCustomError(.notFound, "no such thing")
        )
        let error = await pipelineError { _ = try await bench.api.send(chain) { [journal] in journal.add("\($0)") } }
        #expect(error?.code == .unacceptableStatus && error?.customText == "no such thing")
        #expect(Set(journal.entries).isSubset(of: ["0.5"]))
    }

    @Test("A progress step not greater than the last one is dropped")
    func repeated() async throws {
        let own = OwnOperation { [journal] _, report in
            for step in [0, 0.5, 0.5, 0.25, 0.75, 1, 2] {
                report?(step)
                if step == 0.5 || step == 0.75 { await eventually { journal.entries.contains("\(step)") } }
                for _ in 0..<100 { await Task.yield() }
            }
        }
        _ = try await APIBench().api.send(own) { [journal] in journal.add("\($0)") }
        #expect(journal.entries == ["0.5", "0.75", "1.0"])
    }

    @Test("Progress steps that outpace the handler are dropped, except for the latest")
    func fast() async throws {
        let bench = APIBench()
        let busy = BusyActor()
        let reported = Journal()
        let own = OwnOperation { _, report in
            busy.executor.queue.suspend()
            for step in 1...9 { report?(Double(step) / 10) }
            reported.add("reported")
        }
        let task = Task { try await busy.send(own, with: bench.api) }
        await eventually { !reported.entries.isEmpty }
        busy.executor.queue.resume()
        _ = try await task.value
        let notes = await busy.notes
        #expect(notes.suffix(2) == ["0.9", "1.0"] && notes.count <= 3)
    }

    @Test("Cancelling the task ends running requests, starts no more and stops progress reports", arguments: 0..<3)
    func cancel(kind: Int) async throws {
        let running = Atomic(0)
        let bench = APIBench(
            ScriptedTransport(
                always: .answer { request, context in
                    running.add(1, ordering: .relaxed)
                    defer { running.subtract(1, ordering: .relaxed) }
                    context.report(.sent(50))
                    try await context.clock.sleep(for: .seconds(60))
                    return PipelineResponse(request: request, statusCode: 200)
                }
            )
        )
        let upload = Self.upload
        let operation: any APIOperation =
            switch kind {
            case 0: upload
            case 1: upload.and(upload)
            default: [upload, upload, upload].flatten().concurrent(by: 2)
            }
        let count = kind == 2 ? 2 : 1
        let task = Task { try await run(operation, with: bench.api) }
        let last = ["0.5", "0.25", "\(1.0 / 3)"][kind]
        await eventually { journal.entries.last == last }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(running.load(ordering: .relaxed) == 0 && journal.entries.last == last)
        #expect(bench.transport.sent.count == count)
    }

    private func run(_ operation: some APIOperation, with api: APIClient) async throws {
        _ = try await api.send(operation) { [journal] in journal.add("\($0)") }
    }

    @Test("A call cancelled when its value is ready throws and reports no further progress")
    func cancelledAtEnd() async throws {
        let own = OwnOperation { [journal] _, report in
            report?(0.5)
            await eventually { journal.entries == ["0.5"] }
            journal.add("waiting")
            await eventually { Task.isCancelled }
            report?(0.75)
        }
        let task = Task { try await run(own, with: APIBench().api) }
        await eventually { journal.entries.last == "waiting" }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(journal.entries == ["0.5", "waiting"])
    }

    @Test("A step that waits for an actor is not reported after the call is cancelled")
    func cancelledBeforeActor() async throws {
        let busy = BusyActor()
        let jobCount = Atomic(Int.max)
        let own = OwnOperation { _, report in
            busy.executor.queue.suspend()
            jobCount.store(busy.executor.jobCount, ordering: .relaxed)
            report?(0.5)
        }
        let task = Task { try await busy.send(own, with: APIBench().api) }
        await eventually { busy.executor.jobCount > jobCount.load(ordering: .relaxed) }
        task.cancel()
        busy.executor.queue.resume()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await busy.notes.isEmpty)
    }

    @Test("An actor-isolated handler runs on its actor, and has seen all progress when the value returns")
    @MainActor
    func actor() async throws {
        var steps: [Double] = []
        _ = try await APIBench(ScriptedTransport(always: .ok)).api.send(requests(3).flatten()) { steps.append($0) }
        #expect(steps.last == 1 && steps == steps.sorted())
    }
}

extension BusyActor {
    fileprivate func send(_ operation: OwnOperation, with api: APIClient) async throws -> IgnoredBody {
        try await api.send(operation) { self.note("\($0)") }
    }
}
