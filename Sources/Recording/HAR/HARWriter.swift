import Foundation
import Pipeline

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What takes the bytes of a file.
struct HARWriter {
    private let descriptor: Int32
    private let url: URL

    /// Puts a file of mode 0600 in the place of another as a whole, or leaves the other as it is.
    ///
    /// - Throws: `.recording(.notWritten)`, and what `write` throws.
    static func replace(_ url: URL, _ write: (HARWriter) throws -> Void) throws {
        let url = url.resolvingSymlinksInPath()
        let folder = url.deletingLastPathComponent()
        let temporary = folder.appending(
            path: ".\(url.lastPathComponent)-\(UUID().uuidString)",
            directoryHint: .notDirectory
        )
        let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PipelineError.notWritten(url, errno: errno) }
        var isTemporary = true
        defer {
            _ = close(descriptor)
            if isTemporary { _ = unlink(temporary.path) }
        }
        try write(HARWriter(descriptor: descriptor, url: url))
        guard fsync(descriptor) == 0, rename(temporary.path, url.path) == 0 else {
            throw PipelineError.notWritten(url, errno: errno)
        }
        isTemporary = false
        let place = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard place >= 0 else { return }
        _ = fsync(place)
        _ = close(place)
    }

    func append(_ data: Data) throws { try data.withUnsafeBytes { try append($0) } }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try Self.append(bytes, to: descriptor, url)
    }

    static func append(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ url: URL) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw PipelineError.notWritten(url, errno: errno) }
            rest = rest.dropFirst(count)
        }
    }
}
