import Foundation
import Pipeline
import PipelineTesting
import Testing

@testable import PipelinePlugins

@Suite("TokenRefreshState")
struct TokenRefreshStateTests {
    @Test(
        "A01-A04 In any order of events: never two refreshes, no waiter lost or woken twice, no refresh for an old credential",
        arguments: [(1, true), (2, false), (3, true), (4, false)] as [(UInt64, Bool)]
    )
    func model(seed: UInt64, obtains: Bool) async {
        let model = TokenRefreshModel(seed: seed, obtains: obtains)
        for step in 0..<250_000 {
            model.step()
            if step % 5_000 == 0 { await Task.yield() }
            if let fault = model.fault {
                Issue.record("seed \(seed), step \(step): \(fault)")
                return
            }
        }
        model.finish()
        #expect(model.fault == nil)
        #expect(model.seen == TokenRefreshModel.everything(obtains: obtains))
    }
}
