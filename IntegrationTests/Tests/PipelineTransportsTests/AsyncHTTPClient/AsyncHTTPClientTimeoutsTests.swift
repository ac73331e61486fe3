import Pipeline
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("Timeouts of an exchange over AsyncHTTPClient", .watched)
struct AsyncHTTPClientTimeoutsTests {
    private let clock = AsyncHTTPClientTimer.clock

    private func makeTimeouts() -> AsyncHTTPClientTimeouts {
        let timer = AsyncHTTPClientTimer([.seconds(60)])
        return AsyncHTTPClientTimeouts(timer, head: .seconds(60), idle: nil, write: .seconds(60))
    }

    @Test("a piece has no write timeout after a response that ends the upload")
    func pieceAfterEnd() {
        let timeouts = makeTimeouts()
        timeouts.isMakingPiece()
        timeouts.headHasCome(endsUpload: true)
        timeouts.isWriting()
        #expect(timeouts.nextDeadline(at: clock.now) == nil)
    }

    @Test("a piece has a write timeout after the head of a response that does not end the upload")
    func pieceAfterHead() {
        let timeouts = makeTimeouts()
        timeouts.headHasCome(endsUpload: false)
        timeouts.isWriting()
        #expect(timeouts.nextDeadline(at: clock.now) != nil)
    }

    @Test("a body that ends after the response head starts no head timeout")
    func endAfterHead() {
        let timeouts = makeTimeouts()
        timeouts.headHasCome(endsUpload: false)
        timeouts.isWaitingForHead()
        #expect(timeouts.nextDeadline(at: clock.now) == nil)
    }

    @Test("a body that ends before the response head starts the head timeout")
    func endBeforeHead() {
        let timeouts = makeTimeouts()
        timeouts.isWriting()
        timeouts.isWaitingForHead()
        #expect(timeouts.nextDeadline(at: clock.now) != nil)
    }
}
