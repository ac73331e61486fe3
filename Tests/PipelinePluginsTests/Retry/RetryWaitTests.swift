import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RetryPlugin: waits, deadlines and bodies of failed attempts", .tags(.concurrent), .watched)
struct RetryWaitTests {
    private static let second = RetryPlugin(backoff: .constant(.seconds(1)))

    // MARK: Retry-After

    @Test(
        "T01 A retry waits for the longer of the backoff and Retry-After",
        arguments: [
            (["0"], 1), (["1"], 1), (["5"], 5), (["60"], 60), (["-1"], 1), (["1.5"], 1), ([""], 1), (["soon"], 1),
            (["5", "7"], 7), (["7", "soon"], 7), (["0005"], 5), (["5, 9"], 9), (["+5"], 1), ([], 1),
        ] as [([String], Int)]
    )
    func retryAfter(values: [String], seconds: Int) async {
        var headers = HTTPFields()
        for value in values { headers.append(HTTPField(name: .retryAfter, value: value)) }
        let bench = RetryBench([.status(503, headers: headers), .status(200)], [Self.second])
        #expect(await bench.outcome().text == "200")
        #expect(bench.clock.waits == [.seconds(seconds)])
    }

    @Test(
        "T01 T02 A response with a Retry-After of more than 60 s is returned at once",
        arguments: ["61", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 2026 00:01:01 GMT"]
    )
    func tooLong(value: String) async {
        let bench = RetryBench([.status(503, headers: [.retryAfter: value]), .status(200)], [Self.second])
        let outcome = await bench.outcome()
        #expect(outcome.text == "503")
        #expect(outcome.refusal == .retryAfterTooLong)
        #expect(bench.clock.waits.isEmpty)
    }

    @Test("T02 A Retry-After date counts from the response's Date, not the local clock", arguments: [-3_600, 0, 3_600])
    func skewed(seconds: Int) async {
        let clock = JumpingClock(date: Date(timeIntervalSince1970: 784_111_777 + Double(seconds)))
        let headers: HTTPFields = [
            .date: "Sun, 06 Nov 1994 08:49:37 GMT", .retryAfter: "Sunday, 06-Nov-94 08:49:57 GMT",
        ]
        let bench = RetryBench([.status(429, headers: headers), .status(200)], [Self.second], clock: clock)
        #expect(await bench.outcome().text == "200")
        #expect(bench.clock.waits == [.seconds(20)])
    }

    @Test("maximumRetryAfter sets the longest Retry-After that a policy honours")
    func maximumRetryAfter() async {
        let steps: [ScriptedTransport.Step] = [.status(503, headers: [.retryAfter: "100"]), .status(200)]
        let patient = RetryBench(steps, [RetryPlugin(policy: .init(maximumRetryAfter: .seconds(100)))])
        #expect(await patient.outcome().text == "200")
        #expect(patient.clock.waits == [.seconds(100)])
        let hasty = RetryBench(steps, [RetryPlugin(policy: .init(maximumRetryAfter: .seconds(99)))])
        #expect(await hasty.outcome().text == "503")
    }

    @Test("Retry-After is ignored in a response that is not retried")
    func retryAfterOfSuccess() async {
        let bench = RetryBench([.status(200, headers: [.retryAfter: "9999"])])
        let outcome = await bench.outcome()
        #expect(outcome.text == "200")
        #expect(outcome.refusal == nil)
    }

    // MARK: Deadline

    private static func deadline(in duration: Duration) -> PluginStack {
        .prepare { _, context in context.setDeadline(context.start.advanced(by: duration)) }
    }

    @Test(
        "T08 If the wait would not end before the deadline, the outcome is returned at once",
        arguments: [(2.5, 3, [1, 1]), (2.0, 2, [1]), (1.001, 2, [1]), (1.0, 1, []), (0.5, 1, [])]
            as [(Double, Int, [Int])]
    )
    func deadline(seconds: Double, attempts: Int, waits: [Int]) async {
        for step in [ScriptedTransport.Step.status(503), .failure(.connectionLost)] {
            let bench = RetryBench(
                ScriptedTransport(always: step),
                [
                    Self.deadline(in: .seconds(seconds)),
                    RetryPlugin(maximumAttempts: 9, backoff: .constant(.seconds(1))),
                ]
            )
            let outcome = await bench.outcome()
            #expect(outcome.exchanges.count == attempts)
            #expect(outcome.refusal == .deadline)
            #expect(bench.clock.waits == waits.map { .seconds($0) })
        }
    }

    @Test("T01 T08 A Retry-After wait that would reach the deadline is not started")
    func retryAfterPastDeadline() async {
        let bench = RetryBench(
            ScriptedTransport(always: .status(503, headers: [.retryAfter: "30"])),
            [Self.deadline(in: .seconds(30)), Self.second]
        )
        let outcome = await bench.outcome()
        #expect(outcome.refusal == .deadline)
        #expect(bench.clock.waits.isEmpty)
    }

    @Test("T08 After the deadline there is no retry, not even without a wait")
    func passedDeadline() async {
        let clock = JumpingClock()
        let step = ScriptedTransport.Step.answer { request, _ in
            clock.advance(by: .seconds(3))
            return PipelineResponse(request: request, statusCode: 503)
        }
        let plugins: [any PluginType] = [Self.deadline(in: .seconds(3)), RetryPlugin(backoff: .immediate)]
        let bench = RetryBench(ScriptedTransport(always: step), plugins, clock: clock)
        let outcome = await bench.outcome()
        #expect(outcome.exchanges.count == 1)
        #expect(outcome.refusal == .deadline)
    }

    // MARK: Cancellation

    @Test("A call cancelled while it waits ends at once and sends nothing more")
    func cancelledWait() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .status(503))
        let provider = Provider<Ask>(transport: transport, plugins: [Self.second], configuration: .init(clock: clock))
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(transport.sent.count == 1)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A call cancelled before its failure arrives is not retried, with or without a wait", arguments: [0, 1])
    func cancelledBefore(seconds: Int) async {
        let bench = RetryBench(
            ScriptedTransport { _, _ in
                .answer { request, _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                    return PipelineResponse(request: request, statusCode: 503)
                }
            },
            [RetryPlugin(backoff: .constant(.seconds(seconds)))]
        )
        #expect(await Task { await bench.outcome().text }.value == "CancellationError")
        #expect(bench.transport.sent.count == 1)
        #expect(bench.clock.waits.isEmpty)
    }

    // MARK: Bodies of failed attempts

    /// A body of `count` chunks of 1 KiB, which then ends or stalls.
    private static func body(_ count: Int, ends: Bool, open: OpenBodies) -> PipelineBody {
        open.add()
        let (stream, continuation) = AsyncStream<Data>.makeStream()
        continuation.onTermination = { _ in open.remove() }
        for _ in 0..<count { continuation.yield(Data(count: 1_024)) }
        if ends { continuation.finish() }
        return .stream(stream)
    }

    /// Counts the open bodies.
    private final class OpenBodies: Sendable {
        private let state = Mutex((open: 0, atSending: [Int]()))

        var atSending: [Int] { state.withLock { $0.atSending } }

        func add() { state.withLock { $0.open += 1 } }
        func remove() { state.withLock { $0.open -= 1 } }
        func note() { state.withLock { $0.atSending.append($0.open) } }
    }

    @Test(
        "T07 The body of a failed attempt is closed before the next one, however long it is",
        arguments: [(3, true), (64, true), (65, true), (3, false), (100, false)],
        [0, 2_000]
    )
    func closed(body: (count: Int, ends: Bool), milliseconds: Int) async throws {
        let open = OpenBodies()
        let clock = ManualClock()
        let transport = ScriptedTransport { _, index in
            open.note()
            guard index < 2 else { return .status(200) }
            return .status(503, body: Self.body(body.count, ends: body.ends, open: open))
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [RetryPlugin(backoff: .constant(.milliseconds(milliseconds)))],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.stream(Ask()).statusCode }
        let driver = Task {
            while !Task.isCancelled { try await clock.advanceToNextSleeper() }
        }
        #expect(try await call.value == 200)
        driver.cancel()
        #expect(open.atSending == [0, 0, 0])
    }

    @Test("T07 Reading the rest of a body counts toward the wait and takes at most one second")
    func discardedWithinWait() async throws {
        for (wait, steps) in [(500, [500]), (3_000, [1_000, 2_000])] {
            let clock = ManualClock()
            let open = OpenBodies()
            let transport = ScriptedTransport { _, index in
                index == 0 ? .status(503, body: Self.body(1, ends: false, open: open)) : .status(200)
            }
            let provider = Provider<Ask>(
                transport: transport,
                plugins: [RetryPlugin(backoff: .constant(.milliseconds(wait)))],
                configuration: .init(clock: clock)
            )
            async let status = provider.stream(Ask()).statusCode
            for step in steps { #expect(try await clock.advanceToNextSleeper() == .milliseconds(step)) }
            #expect(try await status == 200)
        }
    }

    @Test("A short body is read to its end so that its connection can be reused")
    func drained() async throws {
        let reads = Atomic(0)
        let transport = ScriptedTransport { _, index in
            guard index == 0 else { return .status(200) }
            let pieces = AsyncStream<Data> {
                reads.add(1, ordering: .relaxed).newValue <= 3 ? Data(count: 10) : nil
            }
            return .status(503, body: .stream(pieces))
        }
        let clock = ManualClock()
        let provider = Provider<Ask>(transport: transport, plugins: [Self.second], configuration: .init(clock: clock))
        async let status = provider.stream(Ask()).statusCode
        await eventually {
            // Until then, the only sleeper is the time limit of the reading.
            if reads.load(ordering: .relaxed) > 3 { clock.advanceIfAnyoneSleeps() }
            return transport.sent.count == 2
        }
        #expect(try await status == 200)
        let count = reads.load(ordering: .relaxed)
        #expect(count == 4)
    }

    @Test("T07 At most limits.discardedBodyByteCount of a body is read, plus the chunk that exceeds it")
    func bounded() async throws {
        let reads = Atomic(0)
        let transport = ScriptedTransport { _, index in
            guard index == 0 else { return .status(200) }
            let endless = AsyncStream<Data> {
                reads.add(1, ordering: .relaxed)
                return Data(count: 1_024)
            }
            return .status(503, body: .stream(endless))
        }
        let clock = ManualClock()
        let provider = Provider<Ask>(transport: transport, plugins: [Self.second], configuration: .init(clock: clock))
        async let status = provider.stream(Ask()).statusCode
        try await clock.waitForSleepers()
        // The first sleeper is the time limit of the reading, the next the wait itself.
        await eventually {
            if reads.load(ordering: .relaxed) > 64 { clock.advanceIfAnyoneSleeps() }
            return transport.sent.count == 2
        }
        #expect(try await status == 200)
        let count = reads.load(ordering: .relaxed)
        #expect(count == 65)
    }

    @Test("The response of a failed attempt is released before the next one")
    func released() async {
        let isReleased = Atomic(false)
        let seen = LockedList<Bool>()
        let transport = ScriptedTransport { _, index in
            guard index == 0 else {
                seen.append(isReleased.load(ordering: .relaxed))
                return .status(200)
            }
            return .answer { request, _ in
                let bytes = UnsafeMutableRawPointer.allocate(byteCount: 10_000, alignment: 1)
                bytes.initializeMemory(as: UInt8.self, repeating: 7, count: 10_000)
                let data = Data(
                    bytesNoCopy: bytes,
                    count: 10_000,
                    deallocator: .custom { pointer, _ in
                        pointer.deallocate()
                        isReleased.store(true, ordering: .relaxed)
                    }
                )
                return PipelineResponse(request: request, statusCode: 503, data: data)
            }
        }
        #expect(await RetryBench(transport).outcome().text == "200")
        #expect(seen.all == [true])
    }

    @Test("A failed response that is returned to a streamed call can still be read")
    func givenBackStream() async throws {
        let open = OpenBodies()
        let provider = Provider<Ask>(
            transport: ScriptedTransport { _, _ in .status(503, body: Self.body(2, ends: true, open: open)) },
            plugins: [RetryPlugin(maximumAttempts: 2, backoff: .immediate)]
        )
        let response = try await provider.stream(Ask())
        #expect(response.statusCode == 503)
        #expect(try await response.response.body.collect(upTo: 9_999).count == 2_048)
    }
}
