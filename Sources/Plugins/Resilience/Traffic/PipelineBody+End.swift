import Foundation
import PipelineCore
import Synchronization

/// How a body has ended.
enum BodyEnd: Sendable {
    /// It was read to its end, or is in memory or a file.
    case complete
    /// Reading it failed, or was cancelled.
    case failed(any Error)
    /// It was released before its end.
    case released
}

extension PipelineBody {
    /// Returns the same body, and calls a closure exactly once when it has ended.
    ///
    /// For a body that is not a stream, the closure runs at once.
    func onEnd(_ end: @escaping @Sendable (BodyEnd) -> Void) -> PipelineBody {
        guard isStream else {
            end(.complete)
            return self
        }
        let chunks = WatchedChunks(body: self, end: WatchedEnd(end))
        return .stream(chunks, byteCount: byteCount)
    }

    /// Whether the body is read from a stream.
    var isStream: Bool { bytes == nil && fileURL == nil }
}

/// The pieces of a body whose end is watched.
private struct WatchedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: PipelineBody
    let end: WatchedEnd

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.chunks().makeAsyncIterator(), reader: Reader(end: end))
    }

    /// The only reader of the body, which ends it when it goes away.
    final class Reader: Sendable {
        let end: WatchedEnd

        init(end: WatchedEnd) { self.end = end }

        deinit { end.reach(.released) }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: PipelineBody.Chunks.AsyncIterator
        let reader: Reader

        mutating func next() async throws -> Data? {
            do {
                let chunk = try await iterator.next()
                if chunk == nil { reader.end.reach(.complete) }
                return chunk
            } catch {
                reader.end.reach(.failed(error))
                throw error
            }
        }
    }
}

/// The end of a body; only the first counts.
private final class WatchedEnd: Sendable {
    private let end: Mutex<(@Sendable (BodyEnd) -> Void)?>

    init(_ end: @escaping @Sendable (BodyEnd) -> Void) {
        self.end = Mutex(end)
    }

    deinit { reach(.released) }

    func reach(_ how: BodyEnd) {
        let end = end.withLock { $0.take() }
        end?(how)
    }
}
