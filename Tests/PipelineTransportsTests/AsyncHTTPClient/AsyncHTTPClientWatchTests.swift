#if AsyncHTTPClient
import Pipeline
import Testing

@testable import PipelineTransports

@Suite("The times of an exchange over AsyncHTTPClient")
struct AsyncHTTPClientWatchTests {
    private let clock = AsyncHTTPClientTimekeeper.clock

    private func makeWatch() -> AsyncHTTPClientWatch {
        let timekeeper = AsyncHTTPClientTimekeeper([.seconds(60)])
        return AsyncHTTPClientWatch(timekeeper, head: .seconds(60), idle: nil, write: .seconds(60))
    }

    @Test("a piece that is handed over when the answer has ended the sending has no time to be taken in")
    func pieceAfterEnd() {
        let watch = makeWatch()
        watch.isMakingPiece()
        watch.headHasCome(endsUpload: true)
        watch.isWriting()
        #expect(watch.nextDeadline(at: clock.now) == nil)
    }

    @Test("a piece that is handed over behind the beginning of another answer has its time")
    func pieceAfterHead() {
        let watch = makeWatch()
        watch.headHasCome(endsUpload: false)
        watch.isWriting()
        #expect(watch.nextDeadline(at: clock.now) != nil)
    }

    @Test("a body that ends behind the beginning of the answer leaves no time for header fields")
    func endAfterHead() {
        let watch = makeWatch()
        watch.headHasCome(endsUpload: false)
        watch.isWaitingForHead()
        #expect(watch.nextDeadline(at: clock.now) == nil)
    }

    @Test("a body that ends before the answer leaves the time for header fields")
    func endBeforeHead() {
        let watch = makeWatch()
        watch.isWriting()
        watch.isWaitingForHead()
        #expect(watch.nextDeadline(at: clock.now) != nil)
    }
}
#endif
