import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Whether a call is made by a plugin.
private enum Nesting { @TaskLocal static var isOn = false }

/// Calls that share exchanges and wait in queues, with each of the stacks.
@Suite("Plugins of another package in place of ours: shared exchanges and queues", .watched)
struct StrangersTests {
    private typealias Bench = StrangersBench
    private typealias Call = StrangersCall

    private static let stacks = StrangersStack.allCases

    private static func options(_ change: (inout RequestOptions) -> Void) -> RequestOptions { RequestOptions(change) }

    @Test("Each plugin of the stranger passes the conformance suite", arguments: StrangersStack.strangers.indices)
    func conformance(index: Int) async {
        let suite = PluginConformance { StrangersStack.strangers[index]() }
        #expect(await suite.run() == [])
    }

    @Test("The order of the stack is as good as with our plugins", arguments: stacks)
    func findings(stack: StrangersStack) {
        let description = Bench(stack) { _, _ in .status(200) }.provider.explain()
        #expect(description.findings == [])
        #expect(description.hints == [])
    }

    // MARK: Sharing

    @Test("D01 1,000 equal calls make one exchange, and each has its own request ID", arguments: stacks)
    func equalCalls(stack: StrangersStack) async {
        let joinedCount = Mutex(0)
        let counting = PluginStack.didFinish { _, context in
            if context.isJoined { joinedCount.withLock { $0 += 1 } }
        }
        let bench = Bench(stack, authentication: [counting]) { _, _ in .delayed(.seconds(1), .status(200, body: "a")) }
        let results = await bench.results(1_000)
        #expect(results.allSatisfy { $0.shown == "200 a miss" })
        #expect(bench.transport.sent.count == 1)
        #expect(joinedCount.withLock { $0 } == 999)
        #expect(Set(results.compactMap { $0.response?.request.header("X-Request-ID") }).count == 1_000)
    }

    @Test("D02 If the first call is cancelled, the others get the response", arguments: stacks)
    func cancelledLeader(stack: StrangersStack) async {
        let bench = Bench(stack) { _, _ in .delayed(.seconds(2), .status(200)) }
        let results = await bench.results([Call(cancelledAfter: .seconds(1)), Call(), Call()])
        #expect(results.map { $0.response?.statusCode } == [nil, 200, 200])
        #expect(bench.transport.sent.count == 1)
    }

    @Test("D02 When all calls are cancelled, the exchange is cancelled, and the next call succeeds", arguments: stacks)
    func allCancelled(stack: StrangersStack) async {
        let ends = Mutex<[Duration]>([])
        let bench = Bench(stack) { _, _ in
            .answer { request, context in
                let start = context.clock.now
                defer { ends.withLock { $0.append(start.duration(to: context.clock.now)) } }
                try await context.clock.sleep(for: .seconds(4))
                return PipelineResponse(request: request, statusCode: 200)
            }
        }
        let results = await bench.results((1...3).map { Call(cancelledAfter: .seconds($0)) })
        #expect(results.allSatisfy { $0.isCancelled })
        #expect(await bench.get().response?.statusCode == 200)
        #expect(ends.withLock { $0 } == [.seconds(3), .seconds(4)])
    }

    @Test("D03 A failure that is not retried is the result of all calls, after one exchange", arguments: stacks)
    func failure(stack: StrangersStack) async {
        let bench = Bench(stack) { _, _ in .delayed(.seconds(1), .failure(.tls(.certificate))) }
        #expect(await bench.results(100).allSatisfy { $0.shown.hasPrefix("tls") })
        #expect(bench.transport.sent.count == 1)
    }

    @Test("D04 Calls with other fields, timeouts or priorities do not share", arguments: stacks)
    func unequalCalls(stack: StrangersStack) async {
        let asks = [
            Ask(), Ask(headers: ["Accept": "text/plain"]), Ask(headers: ["Authorization": "Bearer a"]),
            Ask(headers: ["Range": "bytes=0-1"]), Ask(options: Self.options { $0.attemptTimeout = .seconds(4) }),
            Ask(options: Self.options { $0.priority = .high }),
        ]
        let bench = Bench(stack) { _, _ in .delayed(.seconds(1), .status(200)) }
        #expect(await bench.results(asks.map { Call($0) }).allSatisfy { $0.response?.statusCode == 200 })
        #expect(bench.transport.sent.count == asks.count)
    }

    @Test("D05 Calls that may change something do not share", arguments: stacks)
    func unsafeCalls(stack: StrangersStack) async {
        let bench = Bench(stack) { _, _ in .delayed(.seconds(1), .status(200)) }
        _ = await bench.results(3, Call(Ask(method: .post)))
        #expect(bench.transport.sent.count == 3)
    }

    @Test("D07 A call with an earlier deadline times out alone", arguments: stacks)
    func earlierDeadline(stack: StrangersStack) async {
        let bench = Bench(stack) { _, _ in .delayed(.seconds(2), .status(200, body: "a")) }
        let hurried = Ask(options: Self.options { $0.totalTimeout = .seconds(1) })
        let results = await bench.results([Call(), Call(hurried), Call()])
        #expect(results.map(\.shown) == ["200 a miss", "timeout.total", "200 a miss"])
        #expect(bench.transport.sent.count == 1)
    }

    @Test("D08 A change that a plugin makes to the response of one call is not in that of another", arguments: stacks)
    func ownResponse(stack: StrangersStack) async {
        let mark = HTTPField.Name("X-Mark")
        let marking = PluginStack.process { result, context in
            guard case .success(var response) = result, let mark else { return }
            response.headers.append(HTTPField(name: mark, value: "\(context.callID)"))
            result = .success(response)
        }
        let bench = Bench(stack, authentication: [marking]) { _, _ in .delayed(.seconds(1), .status(200)) }
        let marks = await bench.results(10).compactMap { $0.response?.header("X-Mark") }
        #expect(marks.sorted() == (1...10).map { "\($0)" }.sorted())
        #expect(bench.transport.sent.count == 1)
    }

    @Test("Calls that are made within shared exchanges do not wait for each other", arguments: stacks)
    func nestedCalls(stack: StrangersStack) async {
        let other = Mutex<Provider<Ask>?>(nil)
        let nesting = PluginStack.exchange(name: "nesting") { request, _, send in
            if !Nesting.isOn, let provider = other.withLock({ $0 }) {
                let path = request.path == "/a" ? "/b" : "/a"
                _ = try await Nesting.$isOn.withValue(true) { try await provider.request(Ask(path: path)) }
            }
            return try await send(request)
        }
        let bench = Bench(stack, inside: [nesting]) { _, _ in .delayed(.seconds(1), .status(200)) }
        other.withLock { $0 = bench.provider }
        let start = bench.clock.now
        let results = await bench.results([Call(Ask(path: "/a")), Call(Ask(path: "/b"))])
        other.withLock { $0 = nil }
        #expect(results.allSatisfy { $0.response?.statusCode == 200 })
        #expect(start.duration(to: bench.clock.now) == .seconds(2))
    }

    @Test("Calls of two providers with the same plugins do not share", arguments: stacks)
    func twoProviders(stack: StrangersStack) async {
        let clock = ManualClock()
        let plugins = stack.plugins()
        let providers = ["a", "b"].map { body in
            Provider<Ask>(
                transport: ScriptedTransport(always: .delayed(.seconds(1), .status(200, body: body))),
                plugins: [plugins],
                configuration: ProviderConfiguration(findings: .report { _ in }, clock: clock)
            )
        }
        await clock.run {
            // The calls then have different numbers.
            _ = try? await providers[0].request(Ask(path: "/other"))
            async let one = providers[0].request(Ask()).data
            async let other = providers[1].request(Ask()).data
            let bodies = await [try? one, try? other]
            #expect(bodies == [Data("a".utf8), Data("b".utf8)])
        }
    }

    @Test("G03 After a sign-out, a call does not join an earlier exchange", arguments: stacks)
    func signOut(stack: StrangersStack) async {
        let bench = Bench(stack, hasCookies: false) { _, index in
            .delayed(.seconds(2), .status(200, body: "\(index)"))
        }
        await bench.clock.run {
            async let first = bench.provider.request(Ask())
            try? await bench.clock.sleep(for: .seconds(1))
            try? await bench.provider.signOut()
            let second = try? await bench.provider.request(Ask())
            #expect(second?.data == Data("1".utf8))
            _ = try? await first
        }
    }

    // MARK: Queues

    @Test("V01 A shared request waits in a queue until the latest deadline of its calls", arguments: stacks)
    func latestDeadline(stack: StrangersStack) async {
        let bench = Bench(stack, permits: 1) { request, _ in
            request.path == "/holder" ? .delayed(.seconds(6), .status(200)) : .status(200, body: "a")
        }
        func ask(_ total: Int) -> Ask { Ask(options: Self.options { $0.totalTimeout = .seconds(total) }) }
        let results = await bench.results([
            Call(Ask(path: "/holder", method: .post)), Call(ask(2), at: .seconds(1)), Call(ask(20), at: .seconds(2)),
        ])
        #expect(results.last?.shown == "200 a miss")
        #expect(results[1].shown.hasPrefix("timeout."))
        #expect(bench.transport.sent.count == 2)
    }

    @Test("A request whose calls have all left the queue is not sent", arguments: stacks)
    func leftQueue(stack: StrangersStack) async {
        let bench = Bench(stack, permits: 1) { _, _ in .delayed(.seconds(6), .status(200)) }
        let hurried = Ask(options: Self.options { $0.totalTimeout = .seconds(2) })
        let results = await bench.results([
            Call(Ask(path: "/holder", method: .post)), Call(hurried, at: .seconds(1)), Call(hurried, at: .seconds(2)),
        ])
        #expect(results.dropFirst().allSatisfy { $0.shown.hasPrefix("timeout.") })
        #expect(bench.transport.sent.count == 1)
        #expect(await bench.get().response?.statusCode == 200)
    }

    /// The stacks in which a request that waits for a permit learns that it must not be sent any more.
    ///
    /// A limiter of another package cannot ask the circuit breaker and the rate limit that have let the request pass.
    private static let heedingStacks = stacks.filter { $0 != .limiter }

    @Test("V05 When a circuit opens, requests that wait for a permit are not sent", arguments: heedingStacks)
    func openedCircuit(stack: StrangersStack) async {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0)
        let bench = Bench(stack, permits: 1, budget: budget) { _, _ in .delayed(.milliseconds(100), .status(503)) }
        let results = await bench.results((0..<40).map { Call(Ask(path: "/\($0)")) })
        #expect(results.count { $0.shown == "circuitOpen" } == 30)
        #expect(bench.transport.sent.count == 10)
    }

    @Test("V11 A request that waits for a permit waits for Retry-After, too", arguments: heedingStacks)
    func closedGate(stack: StrangersStack) async {
        let bench = Bench(stack, permits: 1, budget: RetryBudget(ratio: 0, minimumPerSecond: 0)) { _, index in
            .delayed(.milliseconds(100), index == 0 ? .status(429, headers: [.retryAfter: "5"]) : .status(200))
        }
        let start = bench.clock.now
        let results = await bench.results((0..<3).map { Call(Ask(path: "/\($0)")) })
        #expect(results.compactMap { $0.response?.statusCode }.sorted() == [200, 200, 429])
        #expect(start.duration(to: bench.clock.now) > .seconds(5))
    }

    @Test("A refusal for lack of a permit says so, and names the failure before", arguments: stacks)
    func refusal(stack: StrangersStack) async {
        let hurrying = PluginStack.prepare { request, context in
            if request.method == .get { context.setDeadline(context.start.advanced(by: .seconds(2))) }
        }
        let bench = Bench(stack, permits: 1, authentication: [hurrying]) { request, _ in
            request.method == .get ? .status(503) : .delayed(.seconds(6), .status(200))
        }
        let holder = Call(Ask(path: "/holder", method: .post), at: .milliseconds(1))
        let error = await bench.results([Call(), holder]).first?.error
        #expect(error?.code == .timeout(.queue))
        #expect(error?.isRefusal == true)
        #expect(error?.refusalCause?.statusCode == 503)
        #expect(bench.transport.sent.count == 2)
    }

    @Test("V10 A call with a higher priority leaves the queue first", arguments: stacks)
    func priority(stack: StrangersStack) async {
        let bench = Bench(stack, permits: 1) { _, _ in .delayed(.seconds(1), .status(200)) }
        let priorities: [TrafficPriority] = [.high, .low, .normal, .high]
        let calls = zip(["/holder", "/low", "/normal", "/high"], priorities).enumerated().map { number, call in
            Call(Ask(path: call.0, options: Self.options { $0.priority = call.1 }), at: .milliseconds(number))
        }
        #expect(await bench.results(calls).allSatisfy { $0.response?.statusCode == 200 })
        #expect(bench.transport.sent.map(\.path) == ["/holder", "/high", "/normal", "/low"])
    }
}
