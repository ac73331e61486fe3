#if canImport(FoundationNetworking)
import Foundation
import PipelineCore
import Synchronization

/// The source from which Foundation reads a request body on Linux.
///
/// Foundation's own uploads have two bugs there. An upload from a file stops the process if the exchange ends while the
/// file is being read. An upload from bytes that is retried because its connection has ended sends no bytes and waits
/// for a response.
final class URLSessionBodySource: Sendable {
    private enum Content {
        case bytes(Data)
        case file(Int32, FileLane)
    }

    let byteCount: Int
    private let content: Content
    /// The `errno` of a failed read, or ``wasShort``.
    private let failureNumber = Atomic<Int32>(0)
    private static let wasShort: Int32 = -1

    init(_ bytes: Data) {
        byteCount = bytes.count
        content = .bytes(bytes)
    }

    /// Opens a file, which blocks.
    ///
    /// The lane closes it.
    init(_ file: URL, _ lane: FileLane) throws {
        let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
        let failure = errno
        content = .file(descriptor, lane)
        byteCount = PipelineBody.file(file).byteCount ?? -1
        guard descriptor >= 0, byteCount >= 0 else {
            throw PipelineError(
                .file(.unreadable),
                "the file to send cannot be read",
                underlyingError: descriptor < 0 ? POSIXErrorCode(rawValue: failure).map { POSIXError($0) } : nil
            )
        }
    }

    deinit {
        guard case .file(let descriptor, let lane) = content, descriptor >= 0 else { return }
        lane.add { _ = close(descriptor) }
    }

    /// The reason why a file could not be read to its announced end; `nil` if it could.
    var failure: PipelineError? {
        switch failureNumber.load(ordering: .acquiring) {
        case 0:
            return nil
        case Self.wasShort:
            return PipelineError(.bodyChanged, "the file is shorter than it was when its exchange began")
        case let number:
            let error = POSIXErrorCode(rawValue: number).map { POSIXError($0) }
            return PipelineError(.file(.unreadable), "the file cannot be read to its end", underlyingError: error)
        }
    }

    /// Returns the body from its beginning.
    ///
    /// Each stream is read independently.
    func makeStream() -> InputStream { Stream(self) }

    private func read(_ count: Int, from offset: Int, into buffer: UnsafeMutablePointer<UInt8>) -> Int {
        switch content {
        case .bytes(let bytes):
            bytes.dropFirst(offset).copyBytes(to: buffer, count: count)
            return count
        case .file(let descriptor, _):
            let count = pread(descriptor, buffer, count, off_t(offset))
            if count <= 0 { failureNumber.store(count < 0 ? errno : Self.wasShort, ordering: .releasing) }
            return count
        }
    }

    /// Returns exactly the announced bytes.
    ///
    /// If the file has grown, the extra bytes would be taken for the next request.
    private final class Stream: InputStream {
        private let source: URLSessionBodySource
        private var offset = 0

        init(_ source: URLSessionBodySource) {
            self.source = source
            super.init(data: Data())
        }

        override var hasBytesAvailable: Bool { offset < source.byteCount }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
            let wanted = min(length, source.byteCount - offset)
            guard wanted > 0 else { return 0 }
            let count = source.read(wanted, from: offset, into: buffer)
            // Ending the body here would leave the server waiting for the rest.
            guard count > 0 else { return -1 }
            offset += count
            return count
        }
    }
}
#endif
