import Foundation
import PipelineCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A file that stays open, so that it can be read even after another file has taken its name.
final class HARSource: Sendable {
    static let windowByteCount = 64 << 10

    let byteCount: Int
    private let descriptor: Int32

    /// - Throws: `.recording(.missingFile)`; `.recording(.corrupt)` if it is not a readable file.
    convenience init(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let failure = errno
            let isMissing = failure == ENOENT || failure == ENOTDIR
            throw PipelineError(
                .recording(isMissing ? .missingFile : .corrupt),
                "the file \(url.lastPathComponent.debugDescription) \(isMissing ? "does not exist" : "cannot be read")",
                underlyingError: POSIXErrorCode(rawValue: failure).map { POSIXError($0) }
            )
        }
        try self.init(descriptor: descriptor)
    }

    /// Takes ownership of the descriptor.
    init(descriptor: Int32) throws {
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        self.descriptor = descriptor
        byteCount = isFile ? Int(status.st_size) : 0
        guard isFile else { throw PipelineError.corrupt("the path does not name a file") }
    }

    deinit { _ = close(descriptor) }

    func read(_ range: Range<Int>) throws -> Data {
        var data = Data(count: range.count)
        try data.withUnsafeMutableBytes { try read(range, into: $0) }
        return data
    }

    /// Passes the bytes to `body` in windows, which are valid only during the call.
    func forEachWindow(in range: Range<Int>, _ body: (UnsafeRawBufferPointer, _ offset: Int) throws -> Void) throws {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.windowByteCount, alignment: 1)
        defer { window.deallocate() }
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.windowByteCount) {
            let end = min(start + Self.windowByteCount, range.upperBound)
            let part = UnsafeMutableRawBufferPointer(rebasing: window[..<(end - start)])
            try read(start..<end, into: part)
            try body(UnsafeRawBufferPointer(part), start)
        }
    }

    private func read(_ range: Range<Int>, into buffer: UnsafeMutableRawBufferPointer) throws {
        var filled = 0
        while filled < range.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(range.lowerBound + filled))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw PipelineError.corrupt("the file ends or cannot be read at byte \(range.lowerBound + filled)")
            }
            filled += count
        }
    }
}
