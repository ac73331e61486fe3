import Foundation
import Synchronization

/// A file that is read once from its beginning, in pieces of 64 KiB, and is open from the first piece to the last.
///
/// After the first piece, up to eight are read at a time, so at most 512 KiB are buffered.
final class FileReader: Sendable {
    private enum File {
        case unopened
        case open(Int32)
        case over
    }

    private struct State {
        var file = File.unopened
        /// The pieces that have been read but not yet requested, the next one last.
        var ready: [Data] = []
    }

    private static let pieceByteCount = 64 << 10
    /// The number of pieces per lane operation: switching to the lane takes longer than reading a piece.
    private static let batchCount = 8

    private let url: URL
    /// Keeps a temporary file alive while it is read.
    private let writer: FileWriter?
    /// The temporary file's lane, so that settling that lane also waits for what this reader releases.
    private let lane: FileLane
    /// Changed only in the lane, except for taking pieces from `ready`.
    private let state = Mutex(State())

    init(_ url: URL, of writer: FileWriter? = nil) {
        self.url = url
        self.writer = writer
        lane = writer?.lane ?? FileLane()
    }

    deinit {
        guard case .open(let descriptor) = state.withLock({ $0.file }) else { return }
        lane.add { _ = close(descriptor) }
    }

    /// Returns the next piece, or `nil` at the end.
    ///
    /// - Throws: ``PipelineError`` with code `file.unreadable`, or `CancellationError`.
    func next() async throws -> Data? {
        try Task.checkCancellation()
        if let piece = state.withLock({ $0.ready.popLast() }) { return piece }
        return try await lane.run { [self] in try readBatch() }
    }

    /// Reads only one piece the first time and a batch after that; returns the first piece.
    private func readBatch() throws -> Data? {
        var count = 1
        if case .open = state.withLock({ $0.file }) { count = Self.batchCount }
        guard let descriptor = try descriptor() else { return nil }
        do {
            var pieces: [Data] = []
            while pieces.count < count {
                let piece = try Data.reading(Self.pieceByteCount) { buffer, filled in
                    read(descriptor, buffer, Self.pieceByteCount - filled)
                }
                if !piece.isEmpty { pieces.append(piece) }
                if piece.count < Self.pieceByteCount { break }
            }
            if pieces.isEmpty { end(descriptor) }
            pieces.reverse()
            let next = pieces.popLast()
            state.withLock { $0.ready = pieces }
            return next
        } catch {
            end(descriptor)
            throw unreadable(error)
        }
    }

    /// Opens the file if needed; returns `nil` after the end.
    private func descriptor() throws -> Int32? {
        switch state.withLock({ $0.file }) {
        case .over: return nil
        case .open(let descriptor): return descriptor
        case .unopened:
            guard url.isFileURL else { throw unreadable(nil) }
            let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw unreadable(POSIXErrorCode(rawValue: errno).map { POSIXError($0) }) }
            state.withLock { $0.file = .open(descriptor) }
            return descriptor
        }
    }

    private func end(_ descriptor: Int32) {
        _ = close(descriptor)
        state.withLock { $0.file = .over }
    }

    private func unreadable(_ error: (any Error)?) -> PipelineError {
        PipelineError(
            .file(.unreadable),
            "the file \(url.lastPathComponent.quotedExcerpt) cannot be read",
            underlyingError: error
        )
    }
}

extension Data {
    /// Returns bytes that a function reads as `read(2)` does, until there are enough or it reaches the end.
    ///
    /// - Parameters:
    ///   - byteCount: the maximum number of bytes.
    ///   - read: reads to the given address; its second argument is the number of bytes read so far.
    /// - Returns: the bytes.
    /// - Throws: `POSIXError`.
    static func reading(_ byteCount: Int, with read: (UnsafeMutableRawPointer, Int) -> Int) throws -> Data {
        var data = Data(count: byteCount)
        let filled = try data.withUnsafeMutableBytes { buffer in
            var filled = 0
            while let place = buffer.baseAddress, filled < byteCount {
                let count = read(place + filled, filled)
                if count == 0 { break }
                if count > 0 {
                    filled += count
                } else if errno != EINTR {
                    throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
                }
            }
            return filled
        }
        return filled == byteCount ? data : data.prefix(filled)
    }
}
