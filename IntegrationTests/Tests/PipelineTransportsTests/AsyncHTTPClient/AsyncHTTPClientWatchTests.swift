import Pipeline
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("Timeouts of an exchange over AsyncHTTPClient", .watched)
struct AsyncHTTPClientWatchTests {
    private let clock = AsyncHTTPClientTimekeeper.clock

    private func makeWatch() -> AsyncHTTPClientWatch {
        let timekeeper = AsyncHTTPClientTimekeeper([.seconds(60)])
        return AsyncHTTPClientWatch(timekeeper, head: .seconds(60), idle: nil, write: .seconds(60))
    }

    @Test("a piece has no write timeout after a response that ends the upload")
    func pieceAfterEnd() {
        let watch = makeWatch()
        watch.isMakingPiece()
        watch.headHasCome(endsUpload: true)
        watch.isWriting()
        #expect(watch.nextDeadline(at: clock.now) == nil)
    }

    @Test("a piece has a write timeout after the head of a response that does not end the upload")
    func pieceAfterHead() {
        let watch = makeWatch()
        watch.headHasCome(endsUpload: false)
        watch.isWriting()
        #expect(watch.nextDeadline(at: clock.now) != nil)
    }

    @Test("a body that ends after the response head starts no head timeout")
    func endAfterHead() {
        let watch = makeWatch()
        watch.headHasCome(endsUpload: false)
        watch.isWaitingForHead()
        #expect(watch.nextDeadline(at: clock.now) == nil)
    }

    @Test("a body that ends before the response head starts the head timeout")
    func endBeforeHead() {
        let watch = makeWatch()
        watch.isWriting()
        watch.isWaitingForHead()
        #expect(watch.nextDeadline(at: clock.now) != nil)
    }
}
