import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("RetryBudget: hosts", .tags(.concurrent), .watched)
struct RetryBudgetHostsTests {
    @Test("Each host and port has its own budget, and the case of a host name is ignored")
    func hosts() async {
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [RetryBudgetTests.budget(0, 0.1)])
        for url in ["https://a.test", "https://b.test", "https://a.test:8443"] {
            #expect(await bench.outcome(Ask(url: url)).exchanges.count == 2)
            #expect(await bench.outcome(Ask(url: url)).refusal == .budget)
        }
        #expect(await bench.outcome(Ask(url: "https://A.TEST")).refusal == .budget)
    }

    @Test("Beyond the maximum number of hosts, the least recently called one is evicted")
    func bound() {
        let hosts = RetryBudget(RetryBudget(ratio: 0, minimumPerSecond: 0.1).settings, maximumHostCount: 3)
        for second in 0..<3 {
            let date = RetryBudgetTests.origin.addingTimeInterval(Double(second))
            let isAllowed = hosts.takeRetry(to: "h\(second)", at: date)
            #expect(isAllowed)
        }
        let later = RetryBudgetTests.origin.addingTimeInterval(3)
        hosts.addCall(to: "h0", at: later)
        hosts.addCall(to: "new", at: later)
        #expect(hosts.hostCount == 3)
        let allowed = ["h0", "h2", "h1"].map { hosts.takeRetry(to: $0, at: later) }
        #expect(allowed == [false, false, true])
        let large = RetryBudget(RetryBudget().settings)
        for number in 0..<1_500 { large.addCall(to: "\(number)", at: RetryBudgetTests.origin) }
        #expect(large.hostCount == 1_000)
    }
}
