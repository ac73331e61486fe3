import Dispatch
import Foundation
import PipelineCore
import Synchronization

/// Bytes in a temporary file, read in the order in which they were written.
///
/// Both happen outside the cooperative pool.
final class URLSessionOverflow: Sendable {
    private struct Queue {
        /// Bytes that have not been written to disk yet.
        var waitingByteCount = 0
        var isWaitedFor = false
        var isClosed = false
    }

    /// Changed only in the lane.
    private struct Content {
        var file: FileWriter?
        var readByteCount = 0
    }

    private let limit: Int
    let lane = FileLane()
    private let queue = Mutex(Queue())
    private let room = DispatchSemaphore(value: 0)
    private let content = Mutex(Content())

    /// - Parameter limit: how many bytes may wait to be written before ``waitForRoom()`` blocks.
    init(limit: Int) {
        self.limit = limit
    }

    /// Adds bytes without waiting.
    func add(_ data: Data, onFailure: @escaping @Sendable (any Error) -> Void) {
        queue.withLock { $0.waitingByteCount += data.count }
        lane.add { [self] in
            do {
                try write(data)
            } catch {
                onFailure(error)
            }
            let hasRoom = queue.withLock { queue in
                queue.waitingByteCount -= data.count
                guard queue.isWaitedFor, queue.waitingByteCount <= limit else { return false }
                queue.isWaitedFor = false
                return true
            }
            if hasRoom { room.signal() }
        }
    }

    /// Reads the oldest bytes after all added bytes have been written.
    func read(_ byteCount: Int) async throws -> Data {
        try await lane.run { [self] in
            let (file, offset) = content.withLock { ($0.file, $0.readByteCount) }
            guard let data = try? file?.read(byteCount, from: offset), data.count == byteCount else {
                throw PipelineError(.file(.unreadable), "the temporary file for the body cannot be read")
            }
            content.withLock { $0.readByteCount += byteCount }
            return data
        }
    }

    /// Blocks the thread while too many bytes wait to be written.
    ///
    /// Used on the session's own thread.
    func waitForRoom() {
        let isFull = queue.withLock { queue in
            queue.isWaitedFor = !queue.isClosed && queue.waitingByteCount > limit
            return queue.isWaitedFor
        }
        if isFull { room.wait() }
    }

    /// Whether a thread waits for room.
    var isWaitedFor: Bool { queue.withLock { $0.isWaitedFor } }

    /// Releases a thread that waits for room, because nothing will be read any more.
    func close() {
        let isWaitedFor = queue.withLock { queue in
            defer { queue.isWaitedFor = false }
            queue.isClosed = true
            return queue.isWaitedFor
        }
        if isWaitedFor { room.signal() }
    }

    private func write(_ data: Data) throws {
        guard !queue.withLock({ $0.isClosed }) else { return }
        let file = try content.withLock(\.file) ?? FileWriter.temporary(in: nil, lane)
        content.withLock { $0.file = file }
        try file.append(data)
    }
}
