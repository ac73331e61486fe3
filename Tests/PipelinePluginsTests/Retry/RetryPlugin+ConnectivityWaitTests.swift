import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RetryPlugin: waiting for a network", .tags(.concurrent), .watched)
struct RetryPluginConnectivityWaitTests {
    /// A plugin that waits for a network, which is available from a given time on.
    private static func bench(
        _ steps: [ScriptedTransport.Step],
        networkAfter seconds: Double,
        upTo limit: Duration = .seconds(60),
        backoff: Duration = .milliseconds(300),
        budget: RetryBudget = RetryBudget(),
        outside plugins: [any PluginType] = [],
        inside: [any PluginType] = []
    ) -> RetryBench {
        let clock = JumpingClock()
        let connectivity = Connectivity { clock.now.offset >= .seconds(seconds) }
        let retry = RetryPlugin(
            backoff: .constant(backoff),
            budget: budget,
            connectivityWait: .upTo(limit, of: connectivity)
        )
        return RetryBench(steps, plugins + [retry] + inside, clock: clock)
    }

    @Test(
        "A call that fails without a network is retried as soon as one is available, and not before",
        arguments: [.offline, .dns, .connect(.unreachable), .timeout(.connect), .connectionLost] as [PipelineError.Code]
    )
    func restored(code: PipelineError.Code) async {
        let bench = Self.bench([.failure(code), .status(200)], networkAfter: 5)
        let outcome = await bench.outcome()
        #expect(outcome.text == "200")
        #expect(outcome.exchanges.map(\.start) == [.zero, .seconds(5)])
        #expect(bench.clock.waits == Array(repeating: .seconds(1), count: 5))
    }

    @Test("The rest of the backoff is skipped once a network is available")
    func restoredBeforeBackoff() async {
        let bench = Self.bench([.failure(.offline), .status(200)], networkAfter: 2, backoff: .seconds(20))
        #expect(await bench.outcome().exchanges.map(\.start) == [.zero, .seconds(2)])
    }

    @Test("With a network, the retry waits for the backoff")
    func available() async {
        let bench = Self.bench([.failure(.offline), .status(200)], networkAfter: 0)
        #expect(await bench.outcome().text == "200")
        #expect(bench.clock.waits == [.milliseconds(300)])
    }

    @Test("If no network becomes available, the call fails with its own error after the limit")
    func unavailable() async {
        let bench = Self.bench([.failure(.offline), .status(200)], networkAfter: 100, upTo: .milliseconds(2_500))
        let outcome = await bench.outcome()
        #expect(outcome.text == "offline")
        #expect(outcome.refusal == .offline)
        #expect(bench.clock.now.offset == .milliseconds(2_500))
        #expect(bench.transport.sent.count == 1)
    }

    @Test("The wait is off by default, and an option turns it on or off")
    func options() async {
        let never = Connectivity { false }
        let plain = RetryBench([.failure(.offline), .status(200)], [RetryPlugin(backoff: .immediate)])
        #expect(await plain.outcome().text == "200")
        #expect(plain.clock.waits.isEmpty)
        let on = RequestOptions { $0.retry = .init(connectivityWait: .upTo(.seconds(3), of: never)) }
        let turnedOn = RetryBench([.failure(.offline), .status(200)], [RetryPlugin(backoff: .immediate)])
        #expect(await turnedOn.outcome(Ask(), on).text == "offline")
        let off = RequestOptions { $0.retry = .init(connectivityWait: .off) }
        let turnedOff = Self.bench([.failure(.offline), .status(200)], networkAfter: 100)
        #expect(await turnedOff.outcome(Ask(), off).text == "200")
        #expect(turnedOff.clock.waits == [.milliseconds(300)])
    }

    @Test("After a body is cut off without a network, the retry waits for the network")
    func bodyCutOff() async {
        let body = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: PipelineError(.connectionLost, "cut")) }
        let cut = Self.bench([.status(200, body: .stream(body)), .status(200)], networkAfter: 5)
        let outcome = await cut.outcome()
        #expect(outcome.text == "200")
        #expect(outcome.exchanges.map(\.start) == [.zero, .seconds(5)])
    }

    @Test("A response, an error with a response, and a failure that is not retried do not wait")
    func otherOutcomes() async {
        let refuse = PluginStack.intercept(name: "refuse") { request, _, next in
            let response = try await next(request)
            guard response.statusCode == 503 else { return response }
            throw PipelineError(.connectionLost, "half a response", response: response)
        }
        let half = Self.bench([.status(503), .status(200)], networkAfter: 100, inside: [refuse])
        #expect(await half.outcome().text == "200")
        #expect(half.clock.waits == [.milliseconds(300)])
        let busy = Self.bench([.status(503), .status(200)], networkAfter: 100)
        #expect(await busy.outcome().text == "200")
        #expect(busy.clock.waits == [.milliseconds(300)])
        let broken = Self.bench([.failure(.tls(.handshake)), .status(200)], networkAfter: 100)
        #expect(await broken.outcome().text == "tls.handshake")
        #expect(broken.clock.waits.isEmpty)
        let post = Self.bench([.failure(.connectionLost), .status(200)], networkAfter: 100)
        #expect(await post.outcome(Ask(method: .post)).text == "connectionLost")
        #expect(post.clock.waits.isEmpty)
    }

    @Test(
        "A request to a loopback address does not wait",
        arguments: ["http://127.0.0.1:9", "https://localhost", "http://[::1]:80"]
    )
    func loopback(url: String) async {
        let bench = Self.bench([.failure(.connect(.refused)), .status(200)], networkAfter: 100)
        #expect(await bench.outcome(Ask(url: url)).text == "200")
        #expect(bench.clock.waits == [.milliseconds(300)])
    }

    @Test("Each retry waits anew, and maximumAttempts still applies")
    func attempts() async {
        let bench = Self.bench([.failure(.offline), .failure(.offline), .failure(.offline)], networkAfter: 2)
        let outcome = await bench.outcome()
        #expect(outcome.text == "offline")
        #expect(outcome.refusal == .attemptsUsedUp)
        #expect(outcome.exchanges.map(\.start) == [.zero, .seconds(2), .milliseconds(2_300)])
    }

    @Test("The wait takes one retry from the budget")
    func budget() async {
        let one = RetryBudget(ratio: 0, minimumPerSecond: 0.1, window: .seconds(10))
        let bench = Self.bench(
            [.failure(.offline), .failure(.offline), .status(200)],
            networkAfter: 5,
            budget: one
        )
        let outcome = await bench.outcome()
        #expect(outcome.text == "offline")
        #expect(outcome.refusal == .budget)
        #expect(outcome.exchanges.map(\.start) == [.zero, .seconds(5)])
    }

    @Test("The wait ends before the call's deadline, and the call fails with its own error")
    func deadline() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.failure(.offline), .status(200)])
        let retry = RetryPlugin(connectivityWait: .upTo(.seconds(60), of: Connectivity { false }))
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [TimeoutPlugin(total: .seconds(3)), retry],
            configuration: .init(clock: clock, random: .seeded(1))
        )
        let call = Task { try await provider.request(Ask()) }
        for step in [1_000, 1_000, 950] {
            try await clock.waitForSleepers(2)
            clock.advance(by: .milliseconds(step))
        }
        let error = try await #require(throws: PipelineError.self) { try await call.value }
        #expect(error.code == .offline)
        #expect(error.exchanges.last?.refusedRetry == .offline)
        #expect(clock.now.offset == .milliseconds(2_950))
        #expect(transport.sent.count == 1)
    }

    @Test("A call that is cancelled stops waiting at once")
    func cancellation() async throws {
        let clock = ManualClock()
        let retry = RetryPlugin(connectivityWait: .upTo(.seconds(60), of: Connectivity { false }))
        let transport = ScriptedTransport([.failure(.offline), .status(200)])
        let provider = Provider<Ask>(transport: transport, plugins: [retry], configuration: .init(clock: clock))
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(clock.now.offset == .zero)
        #expect(transport.sent.count == 1)
    }

    @Test("The system's connectivity is checked without a wait if the network is available")
    func system() async throws {
        let clock = PipelineClock(JumpingClock())
        let start = clock.now
        let outcome = try await Connectivity.system.wait(until: start.advanced(by: .seconds(5)), on: clock)
        #expect(outcome == .available || start.duration(to: clock.now) > .zero)
    }

    @Test("A wait limit or check interval of zero traps")
    func nonsense() async {
        let limit = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPlugin.ConnectivityWait.upTo(.zero)
        }
        #expect(Self.text(limit).contains("limit is 0.0 seconds"))
        let interval = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Connectivity(checkedEvery: .zero) { true }
        }
        #expect(Self.text(interval).contains("interval is 0.0 seconds"))
    }

    private static func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
}
