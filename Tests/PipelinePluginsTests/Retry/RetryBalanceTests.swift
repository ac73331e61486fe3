import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("RetryBalance", .tags(.concurrent), .watched)
struct RetryBalanceTests {
    @Test(
        "On a stopped clock, 10,000 calls allow their share of retries plus the reserve",
        arguments: [0, 0.01, 0.1, 0.2, 0.5, 1, 2],
        [0.0, 10]
    )
    func share(ratio: Double, perSecond: Double) {
        let hosts = RetryBudget(RetryBudget(ratio: ratio, minimumPerSecond: perSecond).settings)
        var retries = 0
        for _ in 0..<10_000 {
            hosts.addCall(to: "h", at: RetryBudgetTests.origin)
            for _ in 0..<3 where hosts.takeRetry(to: "h", at: RetryBudgetTests.origin) { retries += 1 }
        }
        while hosts.takeRetry(to: "h", at: RetryBudgetTests.origin) { retries += 1 }
        #expect(abs(Double(retries) - 10_000 * ratio - perSecond * 10) <= 1)
    }

    @Test(
        "A clock set back by more than a window resets the balance, by less has no effect; no date traps"
    )
    func oddDates() throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0.1)
        var balance = RetryBalance(try #require(budget.settings), at: RetryBudgetTests.origin)
        var taken: [Bool] = []
        for seconds in [0, 0, -5, -9, -20, -20, 1e300, 1e300, -1e300, .nan, .infinity, 0] as [Double] {
            taken.append(balance.takeRetry(at: RetryBudgetTests.origin.addingTimeInterval(seconds)))
        }
        #expect(taken == [true, false, false, false, true, false, true, false, true, true, false, true])
    }

    /// A simpler model of the budget that keeps every event and sums those of the last ten slices.
    private struct Model {
        struct Host {
            var events: [(slice: Int, amount: Int)] = []
            var slice = 0
        }

        let minimumPerSecond: Double
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
            return Int(minimumPerSecond * 10) * 100 + sum
        }
    }

    @Test(
        "In 200,000 random steps the balance matches a model that keeps every event",
        arguments: [1, 2, 3, 4]
    )
    func model(seed: UInt64) async {
        var random = PipelineRandom.seeded(seed)
        let budget = RetryBudget(ratio: 0.25, minimumPerSecond: 0.3, window: .seconds(10))
        // Each slice belongs to one host at most, so that no two are the oldest.
        let names = ["a", "b", "c", "d", "e"]
        let hosts = RetryBudget(budget.settings, maximumHostCount: 4)
        var model = Model(minimumPerSecond: 0.3, maximumHostCount: 4)
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
                hosts.addCall(to: name, at: date)
                model.hosts[name]?.events.append((slice, 25))
            } else {
                let isAllowed = model.left(name) >= 100
                if isAllowed { model.hosts[name]?.events.append((slice, -100)) }
                let got = hosts.takeRetry(to: name, at: date)
                guard got == isAllowed else {
                    Issue.record("seed \(seed), step \(step): \(got) instead of \(isAllowed)")
                    return
                }
                if got { taken += 1 } else { refused += 1 }
            }
        }
        #expect(hosts.hostCount == 4)
        #expect(taken > 1_000 && refused > 1_000)
    }
}
