import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider: rules 12 and 13, callbacks, streams, options", .tags(.concurrent), .realTime, .watched)
struct ProviderTests {
    /// An actor whose code can be recognized by the queue that it runs on.
    private actor Caller {
        private final class Executor: SerialExecutor {
            let queue = DispatchQueue(label: "caller")

            func enqueue(_ job: consuming ExecutorJob) {
                let job = UnownedJob(job)
                queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }

        static let key = DispatchSpecificKey<Bool>()
        static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

        private let executor = Executor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        init() {
            executor.queue.setSpecific(key: Self.key, value: true)
        }

        func call(_ provider: Provider<TestTarget>) async throws -> (before: Bool, decoding: Bool, after: Bool) {
            let before = Self.isCurrent
            let place = try await provider.request(TestTarget(), as: Place.self)
            return (before, place.isOnCaller, Self.isCurrent)
        }
    }

    private struct Place: Decodable, Sendable {
        let isOnCaller: Bool

        init(from decoder: any Decoder) throws {
            isOnCaller = Caller.isCurrent
        }
    }

    @Test("Rule 17: a call made on an actor runs no plugin, transport or decoding on that actor")
    func leavesTheActor() async throws {
        let places = Journal()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport { _, _ in
                places.add("transport \(Caller.isCurrent)")
                return .status(200, body: "{}")
            },
            plugins: [
                .prepare { _, _ in places.add("prepare \(Caller.isCurrent)") },
                .willSend { _, _ in places.add("willSend \(Caller.isCurrent)") },
                .process { _, _ in places.add("process \(Caller.isCurrent)") },
            ],
            endpoint: { target in
                places.add("endpoint \(Caller.isCurrent)")
                return Endpoint(target)
            }
        )
        let (before, decoding, after) = try await Caller().call(provider)
        #expect(before)
        #expect(!decoding)
        #expect(after)
        #expect(
            places.entries == [
                "endpoint false", "prepare false", "willSend false", "transport false", "process false",
            ]
        )
    }

    @Test("Rule 18: the timings of a call come from the provider's clock")
    func timings() async throws {
        let clock = ManualClock()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .delayed(.seconds(3), .status(200))),
            plugins: [.prepare { _, context in try await context.clock.sleep(for: .seconds(2)) }],
            configuration: .init(clock: clock)
        )
        async let pending = provider.request(TestTarget())
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        let exchange = try #require(try await pending.exchanges.first)
        #expect(exchange.start == .seconds(2))
        #expect(exchange.duration == .seconds(3))
    }

    @Test(
        "An attempt that exceeds its timeout fails with timeout.attempt, and the next attempt has a new timeout"
    )
    func attemptTimeout() async throws {
        let clock = ManualClock()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([.hang, .delayed(.seconds(4), .status(200))]),
            plugins: [
                .intercept { request, _, next in
                    let error = await pipelineError { _ = try await next(request) }
                    #expect(error?.code == .timeout(.attempt))
                    #expect(error?.exchanges.map(\.failure) == [.timeout(.attempt)])
                    return try await next(request)
                }
            ],
            configuration: .init(clock: clock)
        )
        async let pending = provider.request(TestTarget(), options: .init { $0.attemptTimeout = .seconds(5) })
        #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        try await clock.waitForSleepers(2)
        #expect(try await clock.advanceToNextSleeper() == .seconds(4))
        let response = try await pending
        #expect(response.exchanges.map(\.duration) == [.seconds(5), .seconds(4)])
        #expect(clock.sleeperCount == 0)
    }

    @Test("stream returns before the body arrives, and delivers it piece by piece")
    func streams() async throws {
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200, body: .stream(chunks))),
            plugins: [Observer(name: "O", journal: Journal())],
            configuration: .init(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 1))
        )
        let response = try await provider.stream(TestTarget())
        #expect(response.statusCode == 200)
        var iterator = response.body.makeAsyncIterator()
        continuation.yield(Data("one".utf8))
        #expect(try await iterator.next() == Data("one".utf8))
        continuation.yield(Data("two".utf8))
        continuation.finish()
        #expect(try await iterator.next() == Data("two".utf8))
        #expect(try await iterator.next() == nil)

        var second = response.body.makeAsyncIterator()
        let error = await pipelineError { _ = try await second.next() }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("A streamed response with a status that is not accepted fails with an error that has the body")
    func streamedFailure() async throws {
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.yield(Data("gone".utf8))
        continuation.finish()
        // The time limit for reading the body of a refused response uses the clock.
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(410, body: .stream(chunks))),
            configuration: .init(clock: ManualClock())
        )
        let error = await pipelineError {
            _ = try await provider.stream(TestTarget(validationType: .successCodes))
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(try error?.response?.mapString() == "gone")
    }

    @Test(
        "A stream with a refused status and a stalled body fails without the body, in time, and can be cancelled"
    )
    func stalledFailure() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in
            .status(404, body: .stream(AsyncStream { $0.yield(Data("part".utf8)) }))
        }
        let provider = Provider<TestTarget>(transport: transport, configuration: .init(clock: clock))
        let target = TestTarget(validationType: .successCodes)
        async let pending = pipelineError { _ = try await provider.stream(target) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(10))
        let error = await pending
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data.isEmpty == true)

        let call = Task { try await provider.stream(target) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
    }

    @Test(
        "A stream or file returned by a plugin is buffered up to the limit, also for plugins outside it"
    )
    func pluginAnswersAreBuffered() async throws {
        let seen = Journal()
        func provider(_ body: PipelineBody, limit: Int = 100) -> Provider<TestTarget> {
            Provider(
                transport: ScriptedTransport(always: .status(200)),
                plugins: [
                    .process { result, _ in
                        if case .success(let response) = result {
                            seen.add(String(decoding: response.data, as: UTF8.self))
                        }
                    },
                    .intercept { request, _, _ in
                        PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: body)
                    },
                ],
                configuration: .init(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: limit))
            )
        }
        let stream = PipelineBody.stream(replaying: {
            AsyncStream { continuation in
                continuation.yield(Data("abc".utf8))
                continuation.finish()
            }
        })
        #expect(try await provider(stream).request(TestTarget()).mapString() == "abc")
        #expect(seen.entries == ["abc"])
        let file = PipelineBody.file(URL(fileURLWithPath: #filePath))
        #expect(
            try await provider(file, limit: 1 << 20).request(TestTarget()).mapString().contains(
                "pluginAnswersAreBuffered"
            )
        )
        let error = await pipelineError { _ = try await provider(stream, limit: 2).request(TestTarget()) }
        #expect(error?.code == .limit(.bodyBytes))

        let processed = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                .process { result, _ in
                    guard case .success(var response) = result else { return }
                    response.body = stream
                    result = .success(response)
                }
            ]
        )
        #expect(try await processed.request(TestTarget()).mapString() == "abc")
    }

    @Test("A wait of any duration does not crash")
    func endlessWait() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .hang))
        let options = RequestOptions { $0.attemptTimeout = .seconds(Int64.max) }
        let call = Task { try await provider.request(TestTarget(), options: options) }
        await Task.yield()
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }

        let sleep = Task { try await PipelineClock(ContinuousClock()).sleep(for: .seconds(Int64.max)) }
        for _ in 0..<100 { await Task.yield() }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }

    @Test("The context has the call's number, innermost target, attempt and hop")
    func context() async throws {
        let seen = Journal()
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport([.status(302, headers: [.location: "/x"]), .status(200), .status(200)]),
            plugins: [
                .willSend { _, context in
                    seen.add("\(context.callID) \(type(of: context.target)) \(context.attempt).\(context.hop)")
                }
            ]
        )
        _ = try await provider.request(TestTarget())
        _ = try await provider.request(MultiTarget(MultiTarget(TestTarget())))
        #expect(seen.entries == ["1 TestTarget 1.0", "1 TestTarget 1.1", "2 TestTarget 1.0"])
    }

    @Test("An endpoint closure runs for every call, and an error it throws has the code encoding")
    func endpointClosure() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(transport: transport) { target in
            if target.path == "/broken" { throw TestFailure() }
            return Endpoint(target).adding(newHTTPHeaderFields: ["X-App": "shop"])
        }
        _ = try await provider.request(TestTarget())
        _ = try await provider.request(TestTarget())
        #expect(transport.sent.map { $0.headers.map(\.description) } == [["X-App: shop"], ["X-App: shop"]])
        let error = await pipelineError { _ = try await provider.request(TestTarget(path: "/broken")) }
        #expect(error?.code == .encoding)
        #expect(error?.underlyingError as? TestFailure == TestFailure())
        #expect(try await provider.request(TestTarget()).statusCode == 200)
    }
}
