import AsyncHTTPClient
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("AsyncHTTPClientReadTimer, in virtual time", .watched)
struct AsyncHTTPClientReadTimerTests {
    private final class Failures {
        var all: [HTTPClientError] = []
    }

    private func makeTracker(_ loop: EmbeddedEventLoop, _ failures: Failures) -> AsyncHTTPClientTracker {
        var tracker = AsyncHTTPClientTracker()
        tracker.timer = AsyncHTTPClientReadTimer(loop) { failures.all.append($0) }
        return tracker
    }

    @Test(
        "G11: a head that begins after five minutes of silence has 30 s from its first byte",
        arguments: [false, true]
    )
    func drip(hasTimeout: Bool) {
        let (loop, failures) = (EmbeddedEventLoop(), Failures())
        let tracker = makeTracker(loop, failures)
        if hasTimeout { tracker.timer?.start(.minutes(6), or: .readTimeout) }
        loop.advanceTime(by: .minutes(5))
        tracker.headIsIncomplete()
        loop.advanceTime(by: .seconds(29))
        // Further bytes do not extend the limit.
        tracker.headIsIncomplete()
        #expect(failures.all.isEmpty)
        loop.advanceTime(by: .seconds(1))
        #expect(failures.all == [.deadlineExceeded])
    }

    @Test("G11: a head that is complete within its limit passes, however long the silence before it was")
    func longPolling() {
        let (loop, failures) = (EmbeddedEventLoop(), Failures())
        var tracker = makeTracker(loop, failures)
        for _ in 0..<2 {
            loop.advanceTime(by: .minutes(5))
            tracker.headIsIncomplete()
            loop.advanceTime(by: .seconds(29))
            // An interim response has a limit of its own, and the silence after it has none.
            tracker.headHasCome(HTTPResponseHead(version: .http1_1, status: .processing))
        }
        loop.advanceTime(by: .minutes(5))
        tracker.headIsIncomplete()
        loop.advanceTime(by: .seconds(29))
        tracker.headHasCome(HTTPResponseHead(version: .http1_1, status: .ok))
        loop.advanceTime(by: .hours(1))
        #expect(failures.all.isEmpty)
    }
}
