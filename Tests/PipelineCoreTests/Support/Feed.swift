import Foundation
import Pipeline

/// A body whose pieces a test sends one at a time.
final class Feed: AsyncSequence, Sendable {
    typealias Element = Data

    private let stream: AsyncThrowingStream<Data, any Error>
    private let continuation: AsyncThrowingStream<Data, any Error>.Continuation

    init() {
        (stream, continuation) = AsyncThrowingStream.makeStream()
    }

    func send(_ count: Int) { continuation.yield(Data(repeating: 7, count: count)) }

    func finish(throwing error: (any Error)? = nil) { continuation.finish(throwing: error) }

    func makeAsyncIterator() -> AsyncThrowingStream<Data, any Error>.AsyncIterator { stream.makeAsyncIterator() }
}
