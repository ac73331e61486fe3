import Foundation
import Pipeline

/// Bytes that have arrived and that nobody has read: in memory up to a limit, and then in a temporary file where that is allowed.
struct URLSessionBacklog {
    /// Where bytes have gone.
    enum Place {
        case memory
        /// They are to be added to this file.
        case file(URLSessionOverflow)
        /// There was no room.
        case refused
    }

    /// The oldest bytes.
    enum Piece {
        case bytes(Data)
        /// So many bytes are to be read from this file.
        case file(URLSessionOverflow, byteCount: Int)
    }

    private static let pieceByteCount = 1 << 20

    private let memoryLimit: Int
    private let spills: Bool
    private var memory = Data()
    private var overflow: URLSessionOverflow?
    private var overflowByteCount = 0

    /// - Parameters:
    ///   - memoryLimit: the most bytes in memory.
    ///   - spills: whether more go into a file, else they are refused.
    init(memoryLimit: Int, spills: Bool) {
        self.memoryLimit = memoryLimit
        self.spills = spills
    }

    var isEmpty: Bool { memory.isEmpty && overflow == nil }

    /// Adds bytes; the caller writes those that belong into the file, before it gives up the lock.
    mutating func append(_ data: Data) -> Place {
        // Once some are in the file, those that follow have to come after them.
        if overflow == nil {
            if data.count <= memoryLimit - memory.count {
                if memory.isEmpty { memory = data } else { memory.append(data) }
                return .memory
            }
            guard spills else { return .refused }
        }
        let overflow = overflow ?? URLSessionOverflow(limit: memoryLimit)
        self.overflow = overflow
        overflowByteCount += data.count
        return .file(overflow)
    }

    /// Takes the oldest bytes; `nil` when there are none.
    mutating func take() -> Piece? {
        if !memory.isEmpty {
            defer { memory = Data() }
            return .bytes(memory)
        }
        guard let overflow else { return nil }
        let byteCount = min(Self.pieceByteCount, overflowByteCount)
        overflowByteCount -= byteCount
        // Read to its end: what comes next has room in memory again.
        if overflowByteCount == 0 { self.overflow = nil }
        return .file(overflow, byteCount: byteCount)
    }

    mutating func removeAll() {
        memory = Data()
        overflow?.close()
        overflow = nil
        overflowByteCount = 0
    }
}
