import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("DeduplicationPlugin: failures, cancellation, deadlines", .tags(.concurrent), .watched)
struct DeduplicationEndTests {
    private typealias Bench = DeduplicationBench

    /// A plugin that times out the calls with this X-Request-ID after a second.
    private static func deadline(of id: String) -> any PluginType {
        .intercept(name: "deadline") { request, context, next in
            guard request.headers[.named("X-Request-ID")] == id else { return try await next(request) }
            context.setDeadline(context.start.advanced(by: .seconds(1)))
            let deadline = context.clock.now.advanced(by: .seconds(1))
            return try await context.clock.run(until: deadline, throwing: PipelineError(.timeout(.total), "late")) {
                try await next(request)
            }
        }
    }

    private static func ask(_ number: Int) -> Ask { Ask(headers: ["X-Request-ID": "\(number)"]) }

    /// Suspends until the task is cancelled, then throws.
    private static func never() async throws {
        let never = AsyncStream<Never> { _ in }
        for await _ in never {}
        throw CancellationError()
    }

    // MARK: Limits

    @Test("Calls with different priorities or costs do not share")
    func traffic() async {
        let bench = Bench(inside: [RateLimitPlugin(), ConcurrencyLimitPlugin()])
        let calls = [
            await bench.begin(), await bench.begin(Ask(), RequestOptions { $0.priority = .high }),
            await bench.begin(Ask(), RequestOptions { $0.cost = 2 }),
        ]
        #expect(bench.transport.sent.count == 3)
        await bench.runOut(calls)
    }

    // MARK: Failures

    @Test("D03: a failed exchange fails all callers, each with its own request, and none retries")
    func failure() async {
        let bench = Bench { $0 == 0 ? .failure(.connectionLost) : .status(200, body: "answer") }
        let calls = await bench.begin(100, Self.ask)
        await bench.answer()
        let errors = await calls.results.compactMap(\.error)
        #expect(errors.map(\.code) == Array(repeating: .connectionLost, count: 100))
        #expect(errors.map { $0.request?.headers[.named("X-Request-ID")] } == (0..<100).map { "\($0)" })
        #expect(errors.map(\.exchanges.count) == [1] + Array(repeating: 0, count: 99))
        #expect(Set(errors.map(\.plugin)) == [nil])
        #expect(bench.transport.sent.count == 1)
        let next = await bench.begin()
        await bench.answer()
        #expect(await next.result.text == "answer")
    }

    @Test("D03: an inner plugin's failure names that plugin, and its response has each call's own request")
    func innerFailure() async {
        let inner = PluginStack.process(name: "inner") { result, _ in
            guard case .success(let response) = result else { return }
            result = .failure(PipelineError(.contentCoding(.corrupt), "no", response: response))
        }
        let refusing = PluginStack.intercept(name: "refusing") { request, _, next in
            do { return try await next(request) } catch { throw Refused(underlying: error) }
        }
        for plugins: [any PluginType] in [[inner], [refusing, inner]] {
            let bench = Bench(inside: plugins)
            let calls = await bench.begin(3, Self.ask)
            await bench.answer()
            let errors = await calls.results.compactMap(\.error)
            let name = plugins.count == 1 ? nil : "refusing"
            #expect(errors.map(\.plugin) == [name, name, name])
            guard plugins.count == 1 else { continue }
            let ids = errors.map { $0.response?.request.headers[.named("X-Request-ID")] }
            #expect(ids == ["0", "1", "2"])
        }
    }

    private struct Refused: Error {
        let underlying: any Error
    }

    @Test("D03: calls that each retry do so together, never one by one")
    func againTogether() async {
        let bench = Bench(outside: [sendAgain(3)]) { $0 < 2 ? .status(503) : .status(200, body: "ok") }
        let calls = await bench.begin(50)
        for count in 1...3 {
            await eventually {
                bench.plugin.callerCount == 50 && bench.clock.sleeperCount == 1 && bench.transport.sent.count == count
            }
            bench.clock.advance(by: .seconds(1))
        }
        #expect(await calls.results.map(\.text) == Array(repeating: "ok", count: 50))
        #expect(bench.transport.sent.count == 3)
    }

    // MARK: Cancellation

    @Test(
        "D02, Moya defects (1) and (4): a cancelled leader ends at once and alone; the others get their response"
    )
    func leader() async throws {
        let bench = Bench()
        let calls = await bench.begin(3)
        calls[0].cancel()
        #expect(await calls[0].result.isCancelled)
        #expect((bench.plugin.inflightCount, bench.plugin.callerCount) == (1, 2))
        let late = await bench.begin()
        await bench.answer()
        #expect(await [calls[1], calls[2], late].results.map(\.text) == ["answer 0", "answer 0", "answer 0"])
        #expect(bench.transport.sent.count == 1)
    }

    @Test("P06, Moya defect (3), ofetch#525: a cancelled follower ends at once and alone")
    func follower() async throws {
        let bench = Bench()
        let calls = await bench.begin(3)
        calls[1].cancel()
        #expect(await calls[1].result.isCancelled)
        #expect(bench.plugin.callerCount == 2)
        await bench.answer()
        #expect(await calls.results.map(\.text) == ["answer 0", "cancelled", "answer 0"])
    }

    @Test(
        "D02: the last caller to leave cancels the exchange, and an equal call begins another",
        arguments: [1, 2, 10]
    )
    func last(count: Int) async throws {
        let cancelled = Tally()
        let bench = Bench { index in
            guard index == 0 else { return .status(200, body: "answer \(index)") }
            return .answer { _, _ in
                do { try await Self.never() } catch { cancelled.add() }
                throw CancellationError()
            }
        }
        let calls = await bench.begin(count)
        bench.clock.advance(by: .seconds(1))
        for (number, call) in calls.enumerated() {
            #expect((cancelled.value, bench.plugin.callerCount) == (0, count - number))
            call.cancel()
            #expect(await call.result.isCancelled)
        }
        #expect((bench.plugin.inflightCount, bench.plugin.callerCount) == (0, 0))
        let next = await bench.begin()
        await eventually { cancelled.value == 1 }
        await bench.answer()
        #expect(await next.result.text == "answer 1")
    }

    @Test("A cancelled caller does not wait for an exchange that ignores cancellation")
    func stubborn() async {
        let gate = Gate()
        let clock = ManualClock()
        let plugin = DeduplicationPlugin()
        let transport = ScriptedTransport { _, index in
            .answer { request, _ in
                if index == 0 { await gate.wait() }
                return PipelineResponse(request: request, statusCode: 200 + index)
            }
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let calls = (0..<2).map { _ in Task { try await provider.request(Ask()) } }
        await eventually { plugin.callerCount == 2 && transport.sent.count == 1 }
        for call in calls {
            call.cancel()
            #expect(await call.result.isCancelled)
        }
        let next = try? await provider.request(Ask())
        #expect(next?.statusCode == 201)
        gate.open()
    }

    @Test("A leader cancelled at once fails no other call, because the exchange begins before it returns")
    func cancelledAtOnce() async {
        for seed in 0..<200 {
            let plugin = DeduplicationPlugin()
            let provider = Provider<Ask>(
                transport: ScriptedTransport(always: .status(200)),
                plugins: [plugin, .intercept { request, _, next in try await next(request) }]
            )
            let calls = (0..<4).map { _ in Task { try await provider.request(Ask()) } }
            if seed % 2 == 0 { await Task.yield() }
            calls[seed % 4].cancel()
            for (index, result) in await calls.results.enumerated() {
                #expect(result.response != nil || index == seed % 4 && result.isCancelled)
            }
            #expect((plugin.inflightCount, plugin.callerCount) == (0, 0))
        }
    }

    @Test(
        "Of many randomly cancelled calls, each ends once, cancelled or with a response, and none is left"
    )
    func stress() async {
        let bench = Bench()
        let random = PipelineRandom.seeded(11)
        for _ in 0..<40 {
            let calls = (0..<25).map { _ in
                let ask = Ask(path: "/\(random.next() % 3)")
                return Task { try await bench.provider.request(ask) }
            }
            for call in calls where random.next() % 3 == 0 {
                if random.next() % 2 == 0 { await Task.yield() }
                call.cancel()
                if random.next() % 4 == 0 { bench.clock.advance(by: .seconds(1)) }
            }
            let isOver = Mutex(false)
            let mover = Task {
                while !isOver.withLock({ $0 }) {
                    bench.clock.advanceIfAnyoneSleeps()
                    await Task.yield()
                }
            }
            for result in await calls.results { #expect(result.isCancelled || result.response != nil) }
            isOver.withLock { $0 = true }
            await mover.value
            #expect((bench.plugin.inflightCount, bench.plugin.callerCount) == (0, 0))
        }
    }

    // MARK: Deadlines

    @Test("D07: a follower whose deadline is shorter than the leader's times out alone")
    func followerDeadline() async {
        let bench = Bench(outside: [Self.deadline(of: "1")]) { _ in .delayed(.seconds(8), .status(200, body: "ok")) }
        var calls: [Bench.Call] = []
        for number in 0..<3 { calls.append(await bench.begin(Self.ask(number))) }
        await eventually { bench.clock.sleeperCount == 2 }
        bench.clock.advance(by: .seconds(1))
        #expect(await calls[1].result.text == "timeout.total")
        await eventually { bench.clock.sleeperCount == 1 }
        bench.clock.advance(by: .seconds(8))
        #expect(await calls.results.map(\.text) == ["ok", "timeout.total", "ok"])
    }

    @Test("D02, D07: a leader that times out in an outer plugin does not fail the others")
    func leaderDeadline() async {
        let bench = Bench(outside: [Self.deadline(of: "0")]) { _ in .delayed(.seconds(8), .status(200, body: "ok")) }
        var calls: [Bench.Call] = []
        for number in 0..<3 { calls.append(await bench.begin(Self.ask(number))) }
        await eventually { bench.clock.sleeperCount == 2 }
        bench.clock.advance(by: .seconds(1))
        #expect(await calls[0].result.text == "timeout.total")
        await eventually { bench.clock.sleeperCount == 1 }
        bench.clock.advance(by: .seconds(8))
        #expect(await calls.results.map(\.text) == ["timeout.total", "ok", "ok"])
        #expect(bench.transport.sent.count == 1)
    }
}
