import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CircuitBreakerPlugin: probes and bodies", .tags(.concurrent), .watched)
struct CircuitBreakerProbeTests {
    /// A body of pieces that a test sends.
    private static func pipe() -> (PipelineBody, AsyncThrowingStream<Data, any Error>.Continuation) {
        let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        return (.stream(stream), continuation)
    }

    @Test("A half-open circuit lets exactly `probeCount` of 1,000 concurrent calls pass", arguments: [1, 7])
    func concurrentProbes(count: Int) async throws {
        let breaker = CircuitBreakerPlugin.touchy(probeCount: count)
        let transport = ScriptedTransport { _, index in
            index == 0 ? .status(503) : .delayed(.milliseconds(100), .status(200))
        }
        let bench = BreakerBench(transport, [breaker])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let outcomes = await bench.clock.run {
            await withTaskGroup(of: String.self) { group in
                for _ in 0..<1_000 { group.addTask { await bench.send() } }
                return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
        }
        #expect(outcomes == ["200": count, "circuitOpen": 1_000 - count])
        #expect(transport.sent.count == 1 + count)
        #expect(breaker.state == .closed)
    }

    @Test("Calls on many threads let exactly `probeCount` probes pass")
    func threads() async {
        let breaker = CircuitBreakerPlugin.touchy(probeCount: 3)
        let hold = Hold()
        let transport = ScriptedTransport { _, index in
            index == 0
                ? .status(503)
                : .answer { request, _ in
                    await hold.wait()
                    return PipelineResponse(request: request, statusCode: 200)
                }
        }
        let bench = BreakerBench(transport, [breaker])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<1_000 { group.addTask { await bench.send() } }
            var refused = 0
            for await outcome in group {
                if outcome == "circuitOpen" { refused += 1 }
                if refused == 997 { hold.open() }
            }
            #expect(refused == 997)
        }
        #expect(transport.sent.count == 4)
        #expect(breaker.state == .closed)
    }

    @Test("A cancelled probe returns its permit, and the next call is the probe")
    func cancelledProbe() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let transport = ScriptedTransport([.status(503), .hang, .status(200)])
        let bench = BreakerBench(transport, [breaker])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let probe = Task { await bench.send() }
        try await transport.waitForRequests(2)
        #expect(await bench.send() == "circuitOpen")
        probe.cancel()
        #expect(await probe.value == "CancellationError")
        #expect(breaker.state == .halfOpen)
        #expect(await bench.send() == "200")
        #expect(breaker.state == .closed)
    }

    @Test("A refusal of a half-open circuit has no known end")
    func refusedByProbes() async throws {
        let transport = ScriptedTransport([.status(503), .hang])
        let bench = BreakerBench(transport, [CircuitBreakerPlugin.touchy()])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let probe = Task { await bench.send() }
        try await transport.waitForRequests(2)
        let error = await bench.error()
        #expect(error?.retryAfter == nil)
        #expect(
            error?.reason
                == "the circuit of https://a.test is half-open after status 503, and its probes have not ended"
        )
        probe.cancel()
        _ = await probe.value
    }

    @Test("A probe that hangs opens the circuit after `probeTimeout`")
    func hangingProbe() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let transport = ScriptedTransport([.status(503), .hang, .status(200)])
        let bench = BreakerBench(transport, [breaker])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let probe = Task { await bench.send() }
        try await transport.waitForRequests(2)
        bench.clock.advance(by: .seconds(30))
        #expect(await bench.error()?.retryAfter == .seconds(1))
        bench.clock.advance(by: .seconds(1))
        #expect(await bench.send() == "200")
        probe.cancel()
        _ = await probe.value
        #expect(breaker.state == .closed)
    }

    @Test("A streamed response is a failure if its body fails")
    func failedBody() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let (body, pieces) = Self.pipe()
        let bench = BreakerBench([.status(200, body: body)], breaker)
        let response = try await bench.provider.stream(Ask())
        pieces.yield(Data("a".utf8))
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        #expect(breaker.state == .closed)
        pieces.finish(throwing: PipelineError(.connectionLost, "the peer is gone"))
        await #expect(throws: PipelineError.self) { try await iterator.next() }
        #expect(breaker.state == .open)
    }

    @Test("A buffered response is a failure if its body fails, and a success at its end")
    func bufferedBody() async {
        let breaker = CircuitBreakerPlugin.touchy()
        let (broken, pieces) = Self.pipe()
        pieces.finish(throwing: PipelineError(.truncated, "broken"))
        let (whole, others) = Self.pipe()
        others.yield(Data("b".utf8))
        others.finish()
        let bench = BreakerBench([.status(200, body: broken), .status(200, body: whole)], breaker)
        #expect(await bench.send() == "truncated")
        #expect(breaker.state == .open)
        bench.clock.advance(by: .seconds(1))
        #expect(await bench.send() == "200")
        #expect(breaker.state == .closed)
    }

    @Test("A body that fails for reasons other than the server is not a failure")
    func failedBodyInside() async {
        let breaker = CircuitBreakerPlugin.touchy()
        for code in [PipelineError.Code.offline, .limit(.bodyBytes), .timeout(.pool)] {
            let (body, pieces) = Self.pipe()
            pieces.finish(throwing: PipelineError(code, "not the server"))
            #expect(await BreakerBench([.status(200, body: body)], breaker).send() == code.rawValue)
            #expect(breaker.state == .closed)
        }
    }

    @Test("A streamed probe closes the circuit when the head of its response has arrived")
    func streamedProbe() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let (body, pieces) = Self.pipe()
        let bench = BreakerBench([.status(503), .status(200, body: body)], breaker)
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let response = try await bench.provider.stream(Ask())
        #expect(breaker.state == .closed)
        // Its outcome belongs to the half-open state, which has ended.
        pieces.finish(throwing: PipelineError(.connectionLost, "the peer is gone"))
        await #expect(throws: PipelineError.self) { for try await _ in response.body {} }
        #expect(breaker.state == .closed)
    }

    @Test("A probe that is a download closes the circuit when the head of its response has arrived")
    func downloadedProbe() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let (body, pieces) = Self.pipe()
        let transport = ScriptedTransport([.status(503), .status(200, body: body)])
        let bench = BreakerBench(transport, [breaker])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let folder = try TemporaryFolder()
        let ask = Ask(task: .downloadDestination(.file(folder.file("body"))))
        let download = Task { try await bench.provider.request(ask) }
        await eventually { breaker.state == .closed }
        pieces.finish()
        _ = try await download.value
    }

    @Test("A long probe closes the circuit after `probeTimeout`, because its head has arrived")
    func longProbe() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let (body, pieces) = Self.pipe()
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let outer = PluginStack.exchange { request, _, send in
            defer { arrival.yield() }
            return try await send(request)
        }
        let transport = ScriptedTransport([.status(503), .status(200, body: body), .status(200)])
        let bench = BreakerBench(transport, [outer, breaker])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let probe = Task { await bench.send() }
        var heads = arrivals.makeAsyncIterator()
        for _ in 1...2 { await heads.next() }
        #expect(breaker.state == .halfOpen)
        bench.clock.advance(by: .seconds(30))
        #expect(await bench.send() == "200")
        #expect(breaker.state == .closed)
        pieces.finish(throwing: PipelineError(.connectionLost, "the peer is gone"))
        #expect(await probe.value == "connectionLost")
        #expect(breaker.state == .closed)
    }

    @Test("A cancelled body is not counted")
    func cancelledBody() async throws {
        let breaker = CircuitBreakerPlugin.touchy()
        let (body, _) = Self.pipe()
        let transport = ScriptedTransport([.status(503), .status(200, body: body), .status(200)])
        let bench = BreakerBench(transport, [breaker])
        await bench.send()
        bench.clock.advance(by: .seconds(1))
        let probe = Task { await bench.send() }
        try await transport.waitForRequests(2)
        probe.cancel()
        #expect(await probe.value == "CancellationError")
        #expect(breaker.state == .halfOpen)
        #expect(await bench.send() == "200")
        #expect(breaker.state == .closed)
    }
}

/// Lets tasks wait until a test opens it.
private final class Hold: Sendable {
    private let state = Mutex((isOpen: false, waiters: [CheckedContinuation<Void, Never>]()))

    func wait() async {
        await withCheckedContinuation { waiter in
            let resumes = state.withLock { state in
                if !state.isOpen { state.waiters.append(waiter) }
                return state.isOpen
            }
            if resumes { waiter.resume() }
        }
    }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
