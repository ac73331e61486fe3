import Foundation
import Pipeline
import PipelineAuth
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Calls that share a failed exchange", .tags(.concurrent), .watched)
struct SharedFailureTests {
    private typealias Bench = SharedFailureBench

    /// The standard stack without the timer of attempts, so that only retries wait.
    private static var stack: PluginStack { .standard(.timeouts(TimeoutPlugin(idle: .seconds(60)))) }

    // MARK: With RetryPlugin

    @Test(
        "D09 With default jitter, 500 equal calls make 2 exchanges if the server fails once, 3 if it always fails",
        arguments: [1, 2, 3] as [UInt64],
        [true, false]
    )
    func standardStack(seed: UInt64, failsOnce: Bool) async {
        for (pace, delay) in [(1, nil), (50, nil), (1, .milliseconds(50)), (50, .milliseconds(50))]
            as [(Int, Duration?)]
        {
            let bench = Bench(Self.stack.plugins, seed: seed, delay: delay) { _, index in
                index == 0 || !failsOnce ? .status(503) : .status(200)
            }
            let results = await bench.results(of: await bench.begin(500), pace: pace)
            let statuses = results.map { $0.response?.statusCode }
            #expect(statuses == Array(repeating: failsOnce ? 200 : 503, count: 500))
            #expect(bench.transport.sent.count == (failsOnce ? 2 : 3), "pace \(pace), delay \(delay ?? .zero)")
        }
    }

    @Test("D09 Shared waits are random: different seeds give different waits")
    func jitter() async {
        var waits: Set<Duration> = []
        for seed in 1...5 as ClosedRange<UInt64> {
            let bench = Bench(Self.stack.plugins, seed: seed) { _, index in
                index == 0 ? .status(503) : .status(200)
            }
            let calls = await bench.begin(10)
            _ = await bench.results(of: calls)
            waits.insert(bench.clock.now.offset)
        }
        #expect(waits.count == 5)
        #expect(waits.allSatisfy { (.seconds(1) ... .milliseconds(1_500)).contains($0) })
    }

    @Test(
        "D09 T03 Calls that share a failure pay for one retry, and a refusal by the budget applies to all",
        arguments: 0...3
    )
    func budget(retryCount: Int) async {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: Double(retryCount) / 10)
        let bench = Bench([RetryPlugin(budget: budget), DeduplicationPlugin()]) { _, _ in .status(503) }
        let results = await bench.results(of: await bench.begin(100), pace: 1)
        #expect(results.allSatisfy { $0.response?.statusCode == 503 })
        #expect(bench.transport.sent.count == min(retryCount + 1, 3))
        let refusals = results.compactMap { $0.response?.exchanges.last?.refusedRetry }
        #expect(refusals.contains(retryCount < 2 ? .budget : .attemptsUsedUp))
    }

    @Test("T03 500 calls that share an exchange add to the budget once, even if one is cancelled")
    func deposit() async {
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
        let retry = RetryPlugin(maximumAttempts: 10, backoff: .immediate, budget: budget)
        let bench = Bench([retry, DeduplicationPlugin()], delay: .milliseconds(1)) { _, index in
            .status(index == 0 ? 200 : 503)
        }
        let calls = await bench.begin(500)
        calls[7].cancel()
        let results = await bench.results(of: calls)
        #expect(results.count { $0.response?.statusCode == 200 } == 499)
        // One deposit by the shared calls and one by this call.
        let late = await bench.results(of: [Task { try await bench.provider.request(Ask()) }])
        #expect(late[0].response?.exchanges.count == 3)
        #expect(late[0].response?.exchanges.last?.refusedRetry == .budget)
    }

    @Test("T03 A call that joins a retry adds nothing to the budget")
    func depositOfLateJoiner() async throws {
        let budget = RetryBudget(ratio: 1, minimumPerSecond: 0)
        let retry = RetryPlugin(maximumAttempts: 10, backoff: .constant(.seconds(1)), budget: budget)
        let bench = Bench([retry, DeduplicationPlugin()], delay: .seconds(1)) { _, _ in .status(503) }
        var calls = await bench.begin(1)
        for _ in 0..<2 {
            try await bench.clock.waitForSleepers()
            bench.clock.advance(by: .seconds(1))
        }
        await eventually { bench.transport.sent.count == 2 }
        calls.append(Task { try await bench.provider.request(Ask()) })
        await eventually { bench.callerCount == 2 }
        let results = await bench.results(of: calls)
        #expect(results.map { $0.response?.statusCode } == [503, 503])
        // The only deposit paid for the retry that both share.
        #expect(bench.transport.sent.count == 2)
    }

    @Test("D09 Joined callers pay for a retry although they made no exchange")
    func joinedCallersPay() async {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0.1)
        let bench = Bench([RetryPlugin(budget: budget), DeduplicationPlugin()], delay: .seconds(1)) { _, _ in
            .status(503)
        }
        let calls = await bench.begin(3)
        calls[0].cancel()
        #expect(await calls[0].result.isCancelled)
        let results = await bench.results(of: calls)
        #expect(results.map { $0.response?.statusCode } == [nil, 503, 503])
        #expect(bench.transport.sent.count == 2)
    }

    @Test("A member that is cancelled, does not retry, waits longer or is late does not affect the others")
    func differentMembers() async {
        let late = PluginStack.prepare { _, context in
            if context.options.avoidLogError { context.setDeadline(context.start.advanced(by: .seconds(1))) }
        }
        let bench = Bench([late, RetryPlugin(), DeduplicationPlugin()], delay: .milliseconds(50)) { _, index in
            index == 0 ? .status(503, body: "busy") : .status(200, body: "fine")
        }
        let calls = await bench.begin(7) { number in
            switch number {
            case 2: Ask(options: .init { $0.retry = .never })
            case 3: Ask(options: .init { $0.retry = .init(backoff: .constant(.seconds(5))) })
            case 4: Ask(options: .init { $0.retry = .init(policy: RetryPolicy(statusCodes: [])) })
            case 5: Ask(options: .init { $0.avoidLogError = true })
            default: Ask()
            }
        }
        bench.clock.advance(by: .seconds(1))
        await eventually { bench.clock.sleeperCount == 4 }
        calls[0].cancel()
        #expect(await calls[0].result.isCancelled)
        let texts = await bench.results(of: calls).map(\.text)
        #expect(texts == ["cancelled", "fine", "busy", "fine", "busy", "busy", "fine"])
        #expect(bench.transport.sent.count == 2)
    }

    @Test("If the next requests of members differ, those with equal requests share")
    func differentKeys() async {
        let split = PluginStack.prepare { request, context in
            if context.attempt > 1 { request.headers[.from] = "\(context.callID % 2)" }
        }
        let bench = Bench([RetryPlugin(), split, DeduplicationPlugin()]) { request, index in
            index == 0 ? .status(503) : .status(200, body: request.headers[.from] ?? "")
        }
        let results = await bench.results(of: await bench.begin(20), pace: 1)
        #expect(results.map(\.text).count { $0 == "0" } == 10)
        #expect(results.map(\.text).count { $0 == "1" } == 10)
        #expect(bench.transport.sent.count == 3)
    }

    @Test("A policy that retries a success also retries it jointly")
    func retriedSuccess() async {
        let policy = RetryPolicy { (try? $0.response?.mapString()) == "busy" ? .retry : nil }
        let bench = Bench([RetryPlugin(policy: policy), DeduplicationPlugin()]) { _, index in
            .status(200, body: index == 0 ? "busy" : "fine")
        }
        let results = await bench.results(of: await bench.begin(100), pace: 1)
        #expect(Set(results.map(\.text)) == ["fine"])
        #expect(bench.transport.sent.count == 2)
    }

    @Test("wasSent describes the current attempt only, even for joined calls")
    func wasSent() async {
        let seen = Mutex<[Int: [Bool]]>([:])
        let policy = RetryPolicy { outcome in
            seen.withLock { $0[outcome.attempt, default: []].append(outcome.wasSent) }
            return nil
        }
        let bench = Bench([RetryPlugin(maximumAttempts: 2, policy: policy), DeduplicationPlugin()]) { _, index in
            index == 0 ? .status(503) : .failure(.dns)
        }
        let results = await bench.results(of: await bench.begin(3))
        #expect(results.map(\.text) == ["dns", "dns", "dns"])
        #expect(seen.withLock { $0 } == [1: [true, true, true], 2: [false, false, false]])
    }

    // MARK: With other plugins outside

    @Test(
        "D09 A third-party retry plugin with its own waits also makes 2 and 3 exchanges",
        arguments: [true, false]
    )
    func strangers(failsOnce: Bool) async {
        for (pace, delay) in [(1, nil), (20, nil), (20, .milliseconds(10))] as [(Int, Duration?)] {
            let plugin = stranger { call, attempt in .milliseconds((call * 7_919 + attempt * 104_729) % 1_000) }
            let bench = Bench([plugin, DeduplicationPlugin()], delay: delay) { _, index in
                index == 0 || !failsOnce ? .status(503) : .status(200)
            }
            let results = await bench.results(of: await bench.begin(200), pace: pace)
            #expect(results.allSatisfy { $0.response?.statusCode == (failsOnce ? 200 : 503) })
            #expect(bench.transport.sent.count == (failsOnce ? 2 : 3), "pace \(pace), delay \(delay ?? .zero)")
        }
    }

    @Test("D09 500 callers that share a 401 share the retry with the new token", arguments: [true, false])
    func refresh(isHelped: Bool) async {
        for pace in [1, 50] {
            let refreshes = Tally()
            let tokens = TokenRefreshPlugin(credential: Session(accessToken: "old")) { _, context in
                refreshes.add()
                try await context.clock.sleep(for: .milliseconds(100))
                return Session(accessToken: "new")
            }
            let bench = Bench([RetryPlugin(), tokens, DeduplicationPlugin(), GzipPlugin()]) { request, _ in
                .status(isHelped && request.headers[.authorization] == "Bearer new" ? 200 : 401)
            }
            let results = await bench.results(of: await bench.begin(500) { _ in .bearer }, pace: pace)
            #expect(results.allSatisfy { $0.response?.statusCode == (isHelped ? 200 : 401) })
            #expect(bench.transport.sent.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
            #expect(refreshes.value == 1)
        }
    }

    @Test(
        "G07 Callers that share a challenge share the request with the password only if their account is known",
        arguments: [true, false]
    )
    func password(hasAccount: Bool) async {
        let number = Tally()
        let credential: @Sendable () async -> PasswordCredential = {
            // Some callers know the password long after the request of the first has ended.
            for _ in 0..<number.add() { await Task.yield() }
            return PasswordCredential(username: "u", password: "p")
        }
        let credentials =
            hasAccount
            ? CredentialsPlugin(account: { _ in "u" }, credential: { _, _ in await credential() })
            : CredentialsPlugin { _ in await credential() }
        let bench = Bench([RetryPlugin(), credentials, DeduplicationPlugin()]) { request, _ in
            guard request.headers[.authorization] == nil else { return .status(200) }
            return .status(401, headers: [.wwwAuthenticate: "Basic realm=\"x\""])
        }
        let results = await bench.results(of: await bench.begin(200), pace: 1)
        #expect(results.allSatisfy { $0.response?.statusCode == 200 })
        #expect(bench.transport.sent.count == (hasAccount ? 2 : 201))
    }

    // MARK: Which results a member gets

    /// The results of two calls that share a 503, the first of which retries after 1 s, and the number of exchanges.
    private func late(_ second: Duration, between: (Bench) async -> Void = { _ in }) async -> [String] {
        let plugin = stranger { call, _ in call == 1 ? .seconds(1) : second }
        let bench = Bench([plugin, DeduplicationPlugin()]) { _, index in
            index == 0 ? .status(503) : .status(200, body: "answer \(index)")
        }
        let calls = await bench.begin(2)
        bench.clock.advance(by: .seconds(1))
        await eventually { bench.clock.sleeperCount == 2 }
        bench.clock.advance(by: .seconds(1))
        let first = await calls[0].result
        await between(bench)
        bench.clock.advance(by: second - .seconds(1))
        return [first.text, await calls[1].result.text, "\(bench.transport.sent.count)"]
    }

    @Test("A result is reused by members that retry within 30 s of its end; later ones begin a new exchange")
    func age() async {
        #expect(await late(.seconds(31)) == ["answer 1", "answer 1", "2"])
        #expect(await late(.milliseconds(31_001)) == ["answer 1", "answer 2", "3"])
    }

    @Test("After an unsafe call, members do not get the result of an earlier exchange")
    func unsafeCall() async {
        let outcome = await late(.seconds(3)) { bench in
            _ = try? await bench.provider.request(Ask(method: .post))
        }
        #expect(outcome == ["answer 1", "answer 3", "4"])
    }

    @Test("A call that did not share the failure does not get the result")
    func outsider() async {
        let outcome = await late(.seconds(3)) { bench in
            let response = try? await bench.provider.request(Ask())
            #expect(response.map { String(decoding: $0.data, as: UTF8.self) } == "answer 2")
        }
        #expect(outcome == ["answer 1", "answer 1", "3"])
    }

    @Test(
        "After a success, an unchanged request begins a new exchange; a changed one shares",
        arguments: [false, true]
    )
    func polling(changes: Bool) async {
        let poll = PluginStack.intercept(name: "poll") { request, context, next in
            _ = try await next(request)
            try await context.clock.sleep(for: .seconds(context.callID))
            var request = request
            if changes { request.headers[.from] = "x" }
            return try await next(request)
        }
        let bench = Bench([poll, DeduplicationPlugin()]) { _, index in .status(200, body: "answer \(index)") }
        let calls = await bench.begin(2)
        bench.clock.advance(by: .seconds(1))
        await eventually { bench.clock.sleeperCount == 2 }
        bench.clock.advance(by: .seconds(1))
        #expect(await calls[0].result.text == "answer 1")
        bench.clock.advance(by: .seconds(1))
        #expect(await calls[1].result.text == (changes ? "answer 1" : "answer 2"))
    }

    @Test("A member that gets another member's result is marked as joined and keeps its own request")
    func joined() async {
        let joined = Tally()
        let watch = PluginStack.process { _, context in if context.isJoined { joined.add() } }
        let bench = Bench([watch, RetryPlugin(), DeduplicationPlugin()]) { _, index in
            index == 0 ? .status(503) : .status(200)
        }
        let calls = await bench.begin(50) { Ask(headers: ["X-Request-ID": "\($0)"]) }
        let results = await bench.results(of: calls, pace: 1)
        let ids = results.map { $0.response?.request.headers[.named("X-Request-ID")] }
        #expect(ids == (0..<50).map { "\($0)" })
        #expect(results.reduce(0) { $0 + ($1.response?.exchanges.count ?? 0) } == 2)
        #expect((49...50).contains(joined.value))
    }

    // MARK: Memory

    @Test("A failed result is released once all members have it, even while they wait")
    func release() async {
        let census = Census()
        let retry = RetryPlugin(backoff: .constant(.seconds(1)))
        let bench = Bench([retry, DeduplicationPlugin()], delay: .seconds(1)) { _, index in
            index < 2 ? .failure(census.makeError()) : .status(200)
        }
        let calls = await bench.begin(3)
        bench.clock.advance(by: .seconds(1))
        await eventually { bench.clock.sleeperCount == 3 }
        bench.clock.advance(by: .seconds(1))
        await eventually { bench.callerCount == 3 && bench.clock.sleeperCount == 1 }
        // The failure of the second exchange, which is under way.
        await eventually { census.value == 1 }
        bench.clock.advance(by: .seconds(1))
        await eventually { bench.clock.sleeperCount == 3 }
        await eventually { census.value == 0 }
        #expect(bench.transport.sent.count == 2)
        _ = await bench.results(of: calls)
    }

    @Test("A result is kept for a waiting member until its call ends")
    func keep() async {
        let census = Census()
        let plugin = stranger(attempts: 2) { call, _ in .seconds(call) }
        let bench = Bench([plugin, DeduplicationPlugin()]) { _, index in
            index == 0 ? .status(503) : .failure(census.makeError())
        }
        var calls = await bench.begin(2)
        bench.clock.advance(by: .seconds(1))
        await eventually { bench.clock.sleeperCount == 2 }
        bench.clock.advance(by: .seconds(1))
        #expect(await calls.removeFirst().result.text == "connectionLost")
        await eventually { census.value == 1 }
        calls.removeFirst().cancel()
        await eventually { census.value == 0 }
        #expect(bench.transport.sent.count == 2)
    }

    @Test("At most 100 consecutive results are kept for one waiting member")
    func depth() async {
        let census = Census()
        let plugin = stranger(attempts: 300) { call, _ in call == 1 ? .milliseconds(10) : .seconds(20) }
        let bench = Bench([plugin, DeduplicationPlugin()]) { _, index in
            index == 0 ? .status(503) : .failure(census.makeError())
        }
        var calls = await bench.begin(2)
        bench.clock.advance(by: .seconds(1))
        for _ in 1..<300 {
            await eventually { bench.clock.sleeperCount == 2 }
            bench.clock.advance(by: .milliseconds(10))
        }
        #expect(await calls.removeFirst().result.text == "connectionLost")
        #expect(bench.transport.sent.count == 300)
        await eventually { census.value == 100 }
        calls.removeFirst().cancel()
        await eventually { census.value == 0 }
    }
}
