import Foundation
import PipelineCore
import Synchronization

/// The pace at which bytes pass in one direction, as a queue of virtual departures: each piece takes the time that its
/// bytes need, after those before it.
final class TransferPace: Sendable {
    /// The most bytes that pass at once.
    let pieceByteCount: Int
    private let bytesPerSecond: Int
    /// When the last piece will have passed.
    private let free = Mutex<PipelineClock.Instant?>(nil)

    init(_ bytesPerSecond: Int) {
        self.bytesPerSecond = bytesPerSecond
        pieceByteCount = max(1, bytesPerSecond / 10)
    }

    /// Returns when the given bytes have passed.
    func pass(_ byteCount: Int, on clock: PipelineClock) async throws {
        guard byteCount > 0 else { return }
        let now = clock.now
        let time = Duration.seconds(Double(byteCount) / Double(bytesPerSecond))
        let end = free.withLock { free in
            let end = max(free ?? now, now).advanced(by: time)
            free = end
            return end
        }
        try await clock.sleep(until: end)
    }
}

extension PipelineBody {
    /// Returns the same body, which passes at a pace.
    func paced(by pace: TransferPace, on clock: PipelineClock) -> PipelineBody {
        let body = self
        guard isReplayable else {
            return .stream(PacedChunks(body: body, pace: pace, clock: clock), byteCount: byteCount)
        }
        return .stream(byteCount: byteCount) { PacedChunks(body: body, pace: pace, clock: clock) }
    }
}

/// The pieces of a body, each after its turn.
private struct PacedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: PipelineBody
    let pace: TransferPace
    let clock: PipelineClock

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: body.chunks().makeAsyncIterator(), pace: pace, clock: clock)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var chunks: PipelineBody.Chunks.AsyncIterator
        let pace: TransferPace
        let clock: PipelineClock
        /// What is left of the last piece of the body.
        var rest = Data()

        mutating func next() async throws -> Data? {
            if rest.isEmpty {
                guard let chunk = try await chunks.next() else { return nil }
                rest = chunk
            }
            let piece = rest.prefix(pace.pieceByteCount)
            rest = rest.dropFirst(piece.count)
            try await pace.pass(piece.count, on: clock)
            return Data(piece)
        }
    }
}
