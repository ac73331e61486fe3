#if canImport(FoundationNetworking)
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("URLSessionTransport: delegate queue", .tags(.concurrent), .realTime, .watched)
struct URLSessionQueueTests {
    @Test("blocks and operations run one at a time, in the order in which they were added")
    func order() async {
        let queue = URLSessionQueue()
        let numbers = Mutex<[Int]>([])
        let isBusy = Atomic(false)
        await withCheckedContinuation { continuation in
            for number in 0..<1_000 {
                let block = { @Sendable in
                    let wasBusy = isBusy.exchange(true, ordering: .acquiringAndReleasing)
                    #expect(!wasBusy)
                    numbers.withLock { $0.append(number) }
                    isBusy.store(false, ordering: .releasing)
                }
                if number % 7 > 0 {
                    queue.addOperation(block)
                } else {
                    queue.addOperation(BlockOperation(block: block))
                }
            }
            queue.addOperation { continuation.resume() }
        }
        #expect(numbers.withLock { $0 } == Array(0..<1_000))
    }

    @Test("the delegate of a transport runs its callbacks on such a queue")
    func ofTransport() {
        let delegate = URLSessionTransport().delegate
        #expect(delegate.queue is URLSessionQueue)
    }
}
#endif
