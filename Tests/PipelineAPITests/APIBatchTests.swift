import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Batches of APIRequest", .tags(.concurrent), .watched)
struct APIBatchTests {
    private let journal = Journal()

    private func requests(_ count: Int) -> [APIRequest<IgnoredBody>] { (1...count).map { APIRequest("\($0)") } }

    @Test("C95 C96 By default, operations run sequentially and in order")
    func sequential() async throws {
        let bench = APIBench(ScriptedTransport(always: .delayed(.seconds(1), .ok)))
        async let outcome = bench.api.send(requests(3).flatten())
        for count in 1...3 {
            try await bench.clock.waitForSleepers()
            #expect(bench.transport.sent.count == count)
            bench.clock.advance(by: .seconds(1))
        }
        #expect(try await outcome.failures.isEmpty)
        #expect(bench.paths == ["1", "2", "3"])
    }

    @Test(
        "C96 concurrent(by:) runs at most that many operations at once, and 0 runs them sequentially",
        arguments: [0, 1, 2, 5, 20]
    )
    func concurrent(width: Int) async throws {
        let running = Mutex((now: 0, most: 0))
        let transport = ScriptedTransport(
            always: .answer { request, context in
                running.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                try await context.clock.sleep(for: .seconds(1))
                running.withLock { $0.now -= 1 }
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let bench = APIBench(transport)
        async let outcome = bench.api.send(requests(10).flatten().concurrent(by: width))
        let expected = min(max(width, 1), 10)
        var ended = 0
        while ended < 10 {
            let next = min(expected, 10 - ended)
            try await bench.clock.waitForSleepers(next)
            bench.clock.advance(by: .seconds(1))
            ended += next
        }
        #expect(try await outcome.count == 10)
        #expect(running.withLock { $0.most } == expected)
    }

    @Test("A negative width stops the program")
    func nonsense() async {
        await #expect(processExitsWith: .failure) { _ = [any APIOperation]().flatten().concurrent(by: -1) }
    }

    @Test("Requests, chains and batches can be mixed in one batch")
    func kinds() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, body: "1")))
        let chain = APIRequest<Int>("2").and(APIRequest<String>("3"))
        let operations: [any APIOperation] = [APIRequest<IgnoredBody>("1"), chain, requests(2).flatten()]
        _ = try await bench.api.send(operations.flatten())
        _ = try await bench.api.send(
            ([APIRequest<IgnoredBody>("4"), APIRequest<Int>("5")] as [any APIOperation]).flatten()
        )
        #expect(bench.paths == ["1", "2", "3", "1", "2", "4", "5"])
    }

    @Test("C97 B-C30 B-C32 The first failure cancels running operations, starts no more and is reported once")
    func failure() async throws {
        let transport = ScriptedTransport { request, _ in
            request.path.hasSuffix("/2") ? .delayed(.seconds(1), .failure(.timeout(.attempt))) : .hang
        }
        let bench = APIBench(transport)
        let call = bench.api.call(requests(9).flatten().concurrent(by: 3))
            .onSuccess { [journal] _ in journal.add("success") }.onError { [journal] in journal.add("\($0.code)") }
            .onCancellation { [journal] in journal.add("cancellation") }
        async let finished: Void = call.finished()
        await eventually { transport.sent.count == 3 }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        await finished
        #expect(journal.entries == ["timeout.attempt"])
        #expect(transport.sent.count == 3)
    }

    @Test("Progress stays where it was when a failure ends the batch")
    func failedProgress() async throws {
        let transport = ScriptedTransport { request, _ in .status(request.path.hasSuffix("/2") ? 500 : 200) }
        let result = await requests(4).flatten().run(
            in: APIBench(transport).api,
            observer: APIObserver(onProgress: { [journal] in journal.add("\($0)") })
        )
        #expect(throws: PipelineError.self) { try result.get() }
        #expect(journal.entries.last == "0.25")
    }

    @Test(
        "Excepted statuses and codes both end the batch, and without exceptions no failure does",
        arguments: [0, 1, 2]
    )
    func exceptions(kind: Int) async throws {
        let steps: [ScriptedTransport.Step] = [.status(401), .failure(.offline), .ok]
        let both = requests(3).flatten().avoidCancelOnError(except: .unauthorized, exceptCodes: .offline)
        let bench = APIBench(ScriptedTransport(kind == 1 ? Array(steps.dropFirst()) : steps))
        let batch = kind == 2 ? both.avoidCancelOnError() : both
        let error = await pipelineError { _ = try await bench.api.send(batch) }
        #expect(error?.code == [.unacceptableStatus, .offline, nil][kind])
        #expect(bench.transport.sent.count == (kind == 2 ? 3 : 1))
    }

    @Test("C97 After a failure no operation starts, not even one that is not a request")
    func nothingBegins() async throws {
        let bench = APIBench(.failure(.offline))
        let own = OwnOperation { [journal] _, _ in journal.add("begun") }
        let operations: [any APIOperation] = [APIRequest<IgnoredBody>("1"), own, own]
        let error = await pipelineError { _ = try await bench.api.send(operations.flatten()) }
        #expect(error?.code == .offline && journal.entries.isEmpty)
    }

    @Test("C98 With avoidCancelOnError the other operations continue, and the batch returns its failures")
    func avoidCancel() async throws {
        let transport = ScriptedTransport { request, _ in .status(request.path.hasSuffix("/2") ? 500 : 200) }
        let bench = APIBench(transport)
        let outcome = try await bench.api.send(requests(4).flatten().avoidCancelOnError(except: .unauthorized))
        #expect(outcome.count == 4 && outcome.failures.mapValues { $0.response?.statusCode } == [1: 500])
        #expect(transport.sent.count == 4)
    }

    @Test("C98 An excepted status still ends the batch")
    func exceptedStatus() async throws {
        let transport = ScriptedTransport { request, _ in .status(request.path.hasSuffix("/2") ? 401 : 200) }
        let bench = APIBench(transport)
        let batch = requests(4).flatten().avoidCancelOnError(except: .unauthorized, exceptCodes: .offline)
        let error = await pipelineError { _ = try await bench.api.send(batch) }
        #expect(error?.response?.statusCode == 401 && transport.sent.count == 2)
    }

    @Test("C98 A failure ends the batch only if its kind of code is excepted", arguments: [true, false])
    func exceptedCode(isExcepted: Bool) async throws {
        let transport = ScriptedTransport { request, _ in
            request.path.hasSuffix("/2") ? .failure(.timeout(.attempt)) : .status(404)
        }
        let batch = requests(4).flatten()
        let outcome = Mutex<Int?>(nil)
        let error = await pipelineError {
            let ended = try await APIBench(transport).api.send(
                isExcepted
                    ? batch.avoidCancelOnError(exceptCodes: .offline, exceptKinds: .timeout)
                    : batch.avoidCancelOnError(exceptCodes: .offline)
            )
            outcome.withLock { $0 = ended.failures.count }
        }
        #expect(error?.code == (isExcepted ? .timeout(.attempt) : nil))
        #expect(outcome.withLock { $0 } == (isExcepted ? nil : 4) && transport.sent.count == (isExcepted ? 2 : 4))
    }

    @Test("C98 With avoidCancelOnError an operation that cancels itself is an ordinary failure")
    func cancelledByItself() async throws {
        let plugin: PluginStack = .prepare { request, _ in
            if request.path.hasSuffix("/2") { throw CancellationError() }
        }
        let bench = APIBench(ScriptedTransport(always: .ok), plugins: [plugin])
        let outcome = try await bench.api.send(requests(4).flatten().avoidCancelOnError())
        #expect(outcome.failures.mapValues(\.code) == [1: .cancelled])
        #expect(bench.paths == ["1", "3", "4"])
        await #expect(throws: CancellationError.self) { _ = try await bench.api.send(requests(4).flatten()) }
        #expect(bench.transport.sent.count == 4)
    }

    @Test("B-C29 An empty batch of any width succeeds once, with progress 1", arguments: [0, 1, 4])
    func empty(width: Int) async throws {
        let bench = APIBench()
        await bench.api.call([any APIOperation]().flatten().concurrent(by: width)).onProgress { [journal] in
            journal.add("\($0)")
        }
        .onSuccess { [journal] in journal.add("success \($0.count)") }.finished()
        #expect(journal.entries == ["1.0", "success 0"])
    }

    @Test("B-C29 A batch wider than its number of operations ends once", arguments: [3, .max])
    func tooWide(width: Int) async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        await bench.api.call(requests(2).flatten().concurrent(by: width)).onSuccess { [journal] in
            journal.add("\($0.count)")
        }
        .finished()
        #expect(journal.entries == ["2"] && bench.transport.sent.count == 2)
    }

    @Test(
        "C99 B-C31 Progress never falls and reaches 1 only at the end, even with failures",
        arguments: [1, 3, 7]
    )
    func progress(width: Int) async throws {
        let transport = ScriptedTransport { request, index in .status(index.isMultiple(of: 3) ? 500 : 200, body: "{}") }
        let bench = APIBench(transport)
        let batch = requests(7).flatten().concurrent(by: width).avoidCancelOnError()
        await bench.api.call(batch).onProgress { [journal] in journal.add("\($0)") }
            .onSuccess { [journal] _ in journal.add("success") }.finished()
        let steps = journal.entries.compactMap(Double.init)
        #expect(zip(steps, steps.dropFirst()).allSatisfy(<) && steps.last == 1 && steps.count { $0 >= 1 } == 1)
        #expect(journal.entries.last == "success")
    }

    @Test("Cancelling a batch cancels running operations, starts no more and waits for them to end")
    func cancel() async throws {
        let ended = Mutex(0)
        let transport = ScriptedTransport(
            always: .answer { request, context in
                defer { ended.withLock { $0 += 1 } }
                try await context.clock.sleep(for: .seconds(60))
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let bench = APIBench(transport)
        let batch = requests(9).flatten().concurrent(by: 3).avoidCancelOnError()
        let task = Task { try await bench.api.send(batch) }
        try await bench.clock.waitForSleepers(3)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ended.withLock { $0 } == 3 && transport.sent.count == 3)
    }

    @Test("After a cancellation no operation starts, not even one that would still succeed")
    func nothingBeginsAfterCancel() async throws {
        let never = AsyncStream.makeStream(of: Void.self)
        let own = OwnOperation { [journal] _, _ in
            journal.add("begun")
            for await _ in never.stream {}
        }
        let bench = APIBench()
        let batch = Array(repeating: own, count: 3).flatten().avoidCancelOnError()
        let task = Task { _ = try await bench.api.send(batch) }
        await eventually { !journal.entries.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        never.continuation.finish()
        #expect(journal.entries == ["begun"])
    }
}
