#if canImport(FoundationNetworking)
import Foundation
import Pipeline
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What Foundation reads a body from on Linux.
///
/// Its own uploads have two faults there. One from a file stops the process when the exchange ends while the file is being read. One from
/// bytes that has to be sent again, as its connection had ended, sends none, and waits for an answer.
final class URLSessionBodySource: Sendable {
    private enum Content {
        case bytes(Data)
        case file(Int32, FileLane)
    }

    let byteCount: Int
    private let content: Content
    private let isShort = Atomic(false)

    init(_ bytes: Data) {
        byteCount = bytes.count
        content = .bytes(bytes)
    }

    /// Opens a file, which blocks, and closes it in the lane.
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

    /// Whether a file had fewer bytes than it had when its length was announced.
    var wasShort: Bool { isShort.load(ordering: .acquiring) }

    /// The body from its beginning; each stream is read on its own.
    func makeStream() -> InputStream { Stream(self) }

    private func read(_ count: Int, from offset: Int, into buffer: UnsafeMutablePointer<UInt8>) -> Int {
        switch content {
        case .bytes(let bytes):
            bytes.dropFirst(offset).copyBytes(to: buffer, count: count)
            return count
        case .file(let descriptor, _):
            let count = pread(descriptor, buffer, count, off_t(offset))
            if count <= 0 { isShort.store(true, ordering: .releasing) }
            return count
        }
    }

    /// Gives exactly the bytes that were announced: what a file has grown by would be taken for the next request.
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
            // A body that just ended would leave the server waiting for the rest.
            guard count > 0 else { return -1 }
            offset += count
            return count
        }
    }
}
#endif
