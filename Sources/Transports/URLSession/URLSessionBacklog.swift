import Foundation
import PipelineCore

/// Bytes that have arrived but have not been read: in memory up to a limit, then in a temporary file if that is
/// allowed.
struct URLSessionBacklog {
    /// The place where bytes are stored.
    enum Place {
        case memory
        /// The caller must add the bytes to this file.
        case file(URLSessionOverflow)
        /// The limit was reached.
        case refused
    }

    /// The oldest bytes.
    enum Piece {
        case bytes(Data)
        /// The caller must read this many bytes from the file.
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
    ///   - spills: whether further bytes are written to a file; otherwise they are refused.
    init(memoryLimit: Int, spills: Bool) {
        self.memoryLimit = memoryLimit
        self.spills = spills
    }

    var isEmpty: Bool { memory.isEmpty && overflow == nil }

    /// Adds bytes.
    ///
    /// If they belong in the file, the caller must write them before it releases the lock.
    mutating func append(_ data: Data) -> Place {
        // Once the file has bytes, later ones must follow them.
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

    /// Takes the oldest bytes, or returns `nil` if there are none.
    mutating func take() -> Piece? {
        if !memory.isEmpty {
            defer { memory = Data() }
            return .bytes(memory)
        }
        guard let overflow else { return nil }
        let byteCount = min(Self.pieceByteCount, overflowByteCount)
        overflowByteCount -= byteCount
        // The file has been read to its end; later bytes fit into memory again.
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
