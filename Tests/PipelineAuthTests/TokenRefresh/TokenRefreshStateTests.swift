import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

@Suite("TokenRefreshState", .watched)
struct TokenRefreshStateTests {
    @Test(
        "A01-A09 In any order of events, refreshes never overlap, no waiter is lost, changes are reported in order",
        arguments: [
            (1, .init(obtains: true)), (2, .init()), (3, .init(obtains: true, reports: false)),
            (4, .init(reports: false)),
            (5, .init(withoutCredential: .sendAll)), (6, .init(obtains: true, withoutCredential: .sendAll)),
            (7, .init(withoutCredential: .send)), (8, .init(obtains: true, withoutCredential: .send)),
        ] as [(UInt64, TokenRefreshModel.Setup)]
    )
    func model(seed: UInt64, setup: TokenRefreshModel.Setup) async {
        let model = TokenRefreshModel(seed: seed, setup)
        for step in 0..<60_000 {
            model.step()
            if step % 5_000 == 0 { await Task.yield() }
            if let fault = model.fault {
                Issue.record("seed \(seed), step \(step): \(fault)")
                return
            }
        }
        model.finish()
        #expect(model.fault == nil)
        #expect(model.seen == TokenRefreshModel.everything(setup))
    }
}
