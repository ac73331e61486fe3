import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Subscription notices", .tags(.concurrent), .watched)
struct ServerSentEventSubscriptionNoticeTests {
    private let bench = SubscriptionBench()

    @Test("Notices report open streams, events, comments as they arrive, and each wait with its cause")
    func notices() async {
        let (outcome, _) = await bench.outcome(of: [
            .events(":ping\n: two\ndata: 1\n:\n\n: not ended"), .failure(.connect(.refused)),
            .events(WatchedFeed(["data: 2\n\n"], failure: PipelineError(.connectionLost, ""))), .end,
        ])
        var texts = outcome.texts
        #expect(texts.count == 10)
        texts.removeAll { $0.hasPrefix("wait") && $0.hasSuffix("connect.refused") }
        #expect(
            texts == [
                "open 200", "comment ping", "comment two", "comment ", "event 1", "wait 3.0 seconds without an error",
                "open 200", "event 2", "wait 3.0 seconds connectionLost",
            ]
        )
        let refused = outcome.notices.compactMap(\.reconnection)[1]
        #expect(refused.error?.code == .connect(.refused))
        #expect(refused.delay > .seconds(3))
        #expect(outcome.notices.compactMap(\.reconnection).map(\.delay) == outcome.waits)
        #expect(outcome.notices.first?.response?.headers[.contentType] == "text/event-stream")
        #expect(outcome.notices.first?.response?.body.isAbsent == true)
    }

    @Test("The failure that ends a subscription is thrown; earlier ones are reported as notices")
    func failure() async {
        let policy = ServerSentEvent.ReconnectionPolicy(maximumFailedAttempts: 2)
        let (outcome, _) = await bench.outcome(of: [.failure(.dns), .failure(.offline)], reconnection: policy)
        #expect(outcome.notices.map { $0.reconnection?.error?.code } == [.dns])
        #expect(outcome.error?.code == .offline)
    }
}
