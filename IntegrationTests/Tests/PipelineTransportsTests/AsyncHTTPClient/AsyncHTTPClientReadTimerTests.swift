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

    private func makeHandler(_ loop: EmbeddedEventLoop, _ failures: Failures) -> AsyncHTTPClientExchangeHandler {
        let handler = AsyncHTTPClientExchangeHandler(informationalLimit: 100, isStream: false)
        handler.timer = AsyncHTTPClientReadTimer(loop) { failures.all.append($0) }
        return handler
    }

    @Test(
        "G11: a head that begins after five minutes of silence has 30 s from its first byte",
        arguments: [false, true]
    )
    func drip(hasTimeout: Bool) {
        let (loop, failures) = (EmbeddedEventLoop(), Failures())
        let handler = makeHandler(loop, failures)
        if hasTimeout { handler.timer?.start(.minutes(6), or: .readTimeout) }
        loop.advanceTime(by: .minutes(5))
        handler.headIsIncomplete()
        loop.advanceTime(by: .seconds(29))
        // Further bytes do not extend the limit.
        handler.headIsIncomplete()
        #expect(failures.all.isEmpty)
        loop.advanceTime(by: .seconds(1))
        #expect(failures.all == [.deadlineExceeded])
    }

    @Test("G11: the limit also applies to each later head on a connection of a shared client")
    func laterHead() {
        let (loop, failures) = (EmbeddedEventLoop(), Failures())
        let (handler, channel) = (makeHandler(loop, failures), EmbeddedChannel(loop: loop))
        for _ in 1...2 {
            var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
            handler.begin(&head, on: channel)
            handler.headHasCome(HTTPResponseHead(version: .http1_1, status: .ok))
        }
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        handler.begin(&head, on: channel)
        handler.headIsIncomplete()
        loop.advanceTime(by: .seconds(30))
        #expect(failures.all == [.deadlineExceeded])
    }

    @Test("G11: a head that is complete within its limit passes, however long the silence before it was")
    func longPolling() {
        let (loop, failures) = (EmbeddedEventLoop(), Failures())
        let handler = makeHandler(loop, failures)
        for _ in 0..<2 {
            loop.advanceTime(by: .minutes(5))
            handler.headIsIncomplete()
            loop.advanceTime(by: .seconds(29))
            // An interim response has a limit of its own, and the silence after it has none.
            handler.headHasCome(HTTPResponseHead(version: .http1_1, status: .processing))
        }
        loop.advanceTime(by: .minutes(5))
        handler.headIsIncomplete()
        loop.advanceTime(by: .seconds(29))
        handler.headHasCome(HTTPResponseHead(version: .http1_1, status: .ok))
        loop.advanceTime(by: .hours(1))
        #expect(failures.all.isEmpty)
    }
}
