import Foundation
import PipelineCore
import Synchronization

/// The body of a response as it arrives.
///
/// Dropping the body, or its iterator, closes the exchange.
final class URLSessionBody: AsyncSequence, Sendable {
    /// A lease that closes the exchange when the reader is released.
    private final class Lease: Sendable {
        let exchange: URLSessionExchange

        init(exchange: URLSessionExchange) { self.exchange = exchange }

        deinit { exchange.close(throwing: URLSessionBody.dropped) }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        private let lease: Lease

        fileprivate init(_ exchange: URLSessionExchange) { lease = Lease(exchange: exchange) }

        mutating func next() async throws -> Data? {
            try await lease.exchange.nextChunk()
        }
    }

    private let exchange: URLSessionExchange
    private let isRead = Atomic(false)

    init(exchange: URLSessionExchange) {
        self.exchange = exchange
    }

    deinit {
        if !isRead.load(ordering: .acquiring) { exchange.close(throwing: Self.dropped) }
    }

    func makeAsyncIterator() -> AsyncIterator {
        isRead.store(true, ordering: .releasing)
        return AsyncIterator(exchange)
    }

    private static let dropped = PipelineError(.bodyConsumed, "the body was dropped before its end")
}
