import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that is read once from its beginning, in pieces of 64 KiB; it is open from the first piece to the last.
///
/// After the first piece up to eight are read at a time: half a mebibyte waits at most.
final class FileReader: Sendable {
    private enum File {
        case unopened
        case open(Int32)
        case over
    }

    private struct State {
        var file = File.unopened
        /// What has been read and not yet asked for, the next piece last.
        var ready: [Data] = []
    }

    private static let pieceByteCount = 64 << 10
    /// How many pieces are read in one stay in the lane: to go there and back takes longer than to read one.
    private static let batchCount = 8

    private let url: URL
    /// A temporary file goes with it.
    private let writer: FileWriter?
    /// That of the temporary file: who waits for its lane to settle also waits for what this one releases.
    private let lane: FileLane
    /// Changed in the lane only, except for what is taken from `ready`.
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

    /// The next piece, `nil` at the end.
    ///
    /// - Throws: ``PipelineError`` with code `file.unreadable`, and `CancellationError`.
    func next() async throws -> Data? {
        try Task.checkCancellation()
        if let piece = state.withLock({ $0.ready.popLast() }) { return piece }
        return try await lane.run { [self] in try readBatch() }
    }

    /// Reads the first piece alone, and later as many as a batch has; returns the first of them.
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

    /// What is read from, `nil` after the end.
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
    /// Bytes that a function reads as `read(2)` does, until there are enough or no more.
    ///
    /// - Parameters:
    ///   - byteCount: how many at most.
    ///   - read: reads to the place that it gets, behind as many bytes as it gets.
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
