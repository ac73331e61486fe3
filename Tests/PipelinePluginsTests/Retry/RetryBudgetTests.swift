import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("RetryBudget", .tags(.concurrent))
struct RetryBudgetTests {
    private static let origin = Date(timeIntervalSince1970: 1_767_225_600)

    private static func budget(_ ratio: Double, _ perSecond: Double = 0) -> RetryPlugin {
        RetryPlugin(backoff: .immediate, budget: RetryBudget(ratio: ratio, minimumPerSecond: perSecond))
    }

    @Test(
        "On a clock that stands, 10,000 calls allow their share of retries and the reserve",
        arguments: [0, 0.01, 0.1, 0.2, 0.5, 1, 2],
        [0.0, 10]
    )
    func share(ratio: Double, perSecond: Double) {
        var ledger = RetryLedger(RetryBudget(ratio: ratio, minimumPerSecond: perSecond))
        var retries = 0
        for _ in 0..<10_000 {
            ledger.addCall(to: "h", at: Self.origin)
            for _ in 0..<3 where ledger.takeRetry(to: "h", at: Self.origin) { retries += 1 }
        }
        while ledger.takeRetry(to: "h", at: Self.origin) { retries += 1 }
        #expect(abs(Double(retries) - 10_000 * ratio - perSecond * 10) <= 1)
    }

    @Test("T03 10,000 calls to a server that always fails make at most 1.2 times as many attempts, and a reserve")
    func storm() async {
        let transport = ScriptedTransport(always: .status(503))
        let bench = RetryBench(transport, [RetryPlugin(backoff: .immediate)])
        var refused = 0
        for _ in 0..<10_000 where await bench.outcome().refusal == .budget { refused += 1 }
        #expect(transport.sent.count <= 12_100)
        #expect(transport.sent.count >= 12_099)
        #expect(refused > 8_000)
    }

    @Test(
        "When the budget is used up the outcome is given back at once, with the reason, and the next window allows retries"
    )
    func usedUp() async {
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [Self.budget(0, 0.3)])
        #expect(await bench.outcome().exchanges.count == 3)
        let second = await bench.outcome()
        #expect(second.exchanges.count == 2)
        #expect(second.refusal == .budget)
        #expect(await bench.outcome().exchanges.count == 1)
        bench.clock.advance(by: .seconds(8.9))
        #expect(await bench.outcome().exchanges.count == 1)
        bench.clock.advance(by: .seconds(1.2))
        #expect(await bench.outcome().exchanges.count == 3)
    }

    @Test("What is not retried for another reason takes nothing from the budget")
    func spared() async {
        let transport = ScriptedTransport(always: .status(503))
        let bench = RetryBench(transport, [Self.budget(0, 0.1)])
        for _ in 0..<20 {
            #expect(await bench.outcome(Ask(method: .post)).refusal == .methodNotIdempotent)
            #expect(await bench.outcome(Ask(), .init { $0.retry = .never }).exchanges.count == 1)
        }
        #expect(await bench.outcome().exchanges.count == 2)
    }

    @Test("Calls that are not retried add to the budget too")
    func everyCallCounts() async {
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [Self.budget(0.5)])
        for _ in 0..<2 { _ = await bench.outcome(Ask(), .init { $0.retry = .never }) }
        #expect(await bench.outcome().exchanges.count == 2)
    }

    @Test("A call that a plugin responds to without an exchange adds nothing to the budget")
    func withoutExchange() async {
        let cache = InterceptPlugin.intercept(name: "Cache") { request, context, next in
            context.options.avoidLogError
                ? PipelineResponse(request: request, statusCode: 200) : try await next(request)
        }
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [Self.budget(1), cache])
        for _ in 0..<3 { #expect(await bench.outcome(Ask(), .init { $0.avoidLogError = true }).text == "200") }
        #expect(await bench.outcome().exchanges.count == 2)
    }

    @Test("Copies of the plugin share the budget, and two plugins do not")
    func copies() async {
        let transport = ScriptedTransport(always: .status(503))
        let plugin = Self.budget(0, 0.1)
        #expect(await RetryBench(transport, [plugin]).outcome().exchanges.count == 2)
        let copy = plugin
        #expect(await RetryBench(transport, [copy]).outcome().refusal == .budget)
        #expect(await RetryBench(transport, [Self.budget(0, 0.1)]).outcome().exchanges.count == 2)
    }

    @Test("Each host and port has a budget of its own, whatever its letters")
    func hosts() async {
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [Self.budget(0, 0.1)])
        for url in ["https://a.test", "https://b.test", "https://a.test:8443"] {
            #expect(await bench.outcome(Ask(url: url)).exchanges.count == 2)
            #expect(await bench.outcome(Ask(url: url)).refusal == .budget)
        }
        #expect(await bench.outcome(Ask(url: "https://A.TEST")).refusal == .budget)
    }

    @Test("Without a budget the policy alone decides")
    func unlimited() async {
        let bench = RetryBench(
            ScriptedTransport(always: .status(503)),
            [RetryPlugin(backoff: .immediate, budget: .unlimited)]
        )
        for _ in 0..<100 { #expect(await bench.outcome().exchanges.count == 3) }
    }

    @Test("Of 1,000 calls at once no more are retried than the budget allows")
    func atOnce() async {
        let transport = ScriptedTransport(always: .status(503))
        let bench = RetryBench(transport, [Self.budget(0.1, 5)])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<1_000 { group.addTask { _ = await bench.outcome() } }
        }
        #expect(transport.sent.count == 1_150)
    }

    @Test("Of more hosts than are kept the one called longest ago is forgotten")
    func bound() {
        var ledger = RetryLedger(RetryBudget(ratio: 0, minimumPerSecond: 0.1), maximumHostCount: 3)
        for second in 0..<3 {
            let date = Self.origin.addingTimeInterval(Double(second))
            let isAllowed = ledger.takeRetry(to: "h\(second)", at: date)
            #expect(isAllowed)
        }
        let later = Self.origin.addingTimeInterval(3)
        ledger.addCall(to: "h0", at: later)
        ledger.addCall(to: "new", at: later)
        #expect(ledger.hostCount == 3)
        let allowed = ["h0", "h2", "h1"].map { ledger.takeRetry(to: $0, at: later) }
        #expect(allowed == [false, false, true])
        var large = RetryLedger(.standard)
        for number in 0..<1_500 { large.addCall(to: "\(number)", at: Self.origin) }
        #expect(large.hostCount == 1_000)
    }

    @Test(
        "A date that is set back by more than a window begins anew, by less it stands still; no date ends the program"
    )
    func oddDates() {
        var balance = RetryBalance(RetryBudget(ratio: 0, minimumPerSecond: 0.1), at: Self.origin)
        var taken: [Bool] = []
        for seconds in [0, 0, -5, -9, -20, -20, 1e300, 1e300, -1e300, .nan, .infinity, 0] as [Double] {
            taken.append(balance.takeRetry(at: Self.origin.addingTimeInterval(seconds)))
        }
        #expect(taken == [true, false, false, false, true, false, true, false, true, true, false, true])
    }

    /// The budget told in another way: every event is kept, and the sum is taken over those of the last ten tenths.
    private struct Model {
        struct Host {
            var events: [(slice: Int, amount: Int)] = []
            var slice = 0
        }

        let budget: RetryBudget
        let maximumHostCount: Int
        var hosts: [String: Host] = [:]

        mutating func touch(_ name: String, _ slice: Int) {
            if hosts[name] == nil, hosts.count == maximumHostCount {
                let oldest = hosts.values.map(\.slice).min() ?? 0
                for (key, host) in hosts where host.slice == oldest { hosts[key] = nil }
            }
            hosts[name, default: Host()].slice = slice
            hosts[name]?.events.removeAll { $0.slice <= slice - 10 }
        }

        func left(_ name: String) -> Int {
            let sum = hosts[name]?.events.map(\.amount).reduce(0, +) ?? 0
            return Int(budget.minimumPerSecond * 10) * 100 + sum
        }
    }

    @Test(
        "Through 200,000 steps in random order it agrees with a model that keeps every event",
        arguments: [1, 2, 3, 4]
    )
    func model(seed: UInt64) async {
        var random = PipelineRandom.seeded(seed)
        let budget = RetryBudget(ratio: 0.25, minimumPerSecond: 0.3, window: .seconds(10))
        // Each slice belongs to one host at most, so that no two are the oldest.
        let names = ["a", "b", "c", "d", "e"]
        var ledger = RetryLedger(budget, maximumHostCount: 4)
        var model = Model(budget: budget, maximumHostCount: 4)
        var slice = 0
        var taken = 0
        var refused = 0
        for step in 0..<50_000 {
            if step.isMultiple(of: 1_000) { await Task.yield() }
            let name = names.randomElement(using: &random) ?? "a"
            if let last = model.hosts.values.map(\.slice).max(), last >= slice, model.hosts[name]?.slice != last {
                slice += 1
            }
            if Int.random(in: 0..<8, using: &random) == 0 { slice += Int.random(in: 1...3, using: &random) }
            let date = Date(
                timeIntervalSince1970: 1_000_000 + Double(slice) + Double.random(in: 0...0.9, using: &random)
            )
            model.touch(name, slice)
            if Bool.random(using: &random) {
                ledger.addCall(to: name, at: date)
                model.hosts[name]?.events.append((slice, 25))
            } else {
                let isAllowed = model.left(name) >= 100
                if isAllowed { model.hosts[name]?.events.append((slice, -100)) }
                let got = ledger.takeRetry(to: name, at: date)
                guard got == isAllowed else {
                    Issue.record("seed \(seed), step \(step): \(got) instead of \(isAllowed)")
                    return
                }
                if got { taken += 1 } else { refused += 1 }
            }
        }
        #expect(ledger.hostCount == 4)
        #expect(taken > 1_000 && refused > 1_000)
    }
}
