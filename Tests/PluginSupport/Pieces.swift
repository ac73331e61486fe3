import Foundation
import Synchronization

/// Bytes in pieces of one size, with a count of the pieces that were read.
final class Pieces: AsyncSequence, Sendable {
    typealias Element = Data

    private let data: Data
    private let byteCount: Int
    private let isEndless: Bool
    private let taken = Atomic(0)
    private let ended = Atomic(false)

    /// If `isEndless`, the data repeats without end.
    init(_ data: Data, of byteCount: Int, isEndless: Bool = false) {
        self.data = Data(data)
        self.byteCount = byteCount
        self.isEndless = isEndless
    }

    var takenCount: Int { taken.load(ordering: .relaxed) }

    /// Whether the iterator has been released.
    var isLetGo: Bool { ended.load(ordering: .relaxed) }

    func makeAsyncIterator() -> Iterator { Iterator(self) }

    final class Iterator: AsyncIteratorProtocol {
        private let pieces: Pieces
        private var offset = 0

        init(_ pieces: Pieces) { self.pieces = pieces }

        deinit { pieces.ended.store(true, ordering: .relaxed) }

        func next() async throws -> Data? { take() }

        /// Runs on the reader's actor.
        func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Data? { take() }

        private func take() -> Data? {
            if offset >= pieces.data.count, pieces.isEndless { offset = 0 }
            guard offset < pieces.data.count else { return nil }
            defer { offset += pieces.byteCount }
            pieces.taken.add(1, ordering: .relaxed)
            return pieces.data.dropFirst(offset).prefix(pieces.byteCount)
        }
    }
}
