package import Foundation
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

/// A writer for the bytes of a file.
package struct HARWriter {
    private let descriptor: Int32
    private let url: URL

    /// Replaces a file atomically with a new file of mode 0600.
    ///
    /// If this throws, the old file stays unchanged.
    ///
    /// - Throws: `.recording(.notWritten)`, and the errors of `write`.
    package static func replace(_ url: URL, _ write: (HARWriter) throws -> Void) throws {
        let url = url.resolvingSymlinksInPath()
        let folder = url.deletingLastPathComponent()
        let temporary = folder.appending(
            path: ".\(url.lastPathComponent)-\(UUID().uuidString)",
            directoryHint: .notDirectory
        )
        let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PipelineError.notWritten(url, errno: errno, in: folder) }
        var isTemporary = true
        defer {
            _ = close(descriptor)
            if isTemporary { _ = unlink(temporary.path) }
        }
        try write(HARWriter(descriptor: descriptor, url: url))
        guard synchronize(descriptor), rename(temporary.path, url.path) == 0 else {
            throw PipelineError.notWritten(url, errno: errno)
        }
        isTemporary = false
        let place = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard place >= 0 else { return }
        _ = synchronize(place)
        _ = close(place)
    }

    private static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        // There, `fsync` leaves data in the cache of the disk. Some file systems support nothing else.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Creates the folder of a file, and the folders that contain it, unless they exist.
    ///
    /// - Throws: `.recording(.notWritten)`, which names the file as it was given.
    package static func makeFolder(of url: URL) throws {
        let folder = url.resolvingSymlinksInPath().deletingLastPathComponent()
        let number = makeFolder(folder)
        guard number == 0 else {
            let detail = " because its folder \(folder.path.debugDescription) could not be created"
            throw PipelineError.notWritten(url, errno: number, detail)
        }
    }

    /// - Returns: 0, or the error number.
    private static func makeFolder(_ folder: URL) -> Int32 {
        var status = stat()
        if stat(folder.path, &status) == 0 { return 0 }
        guard errno == ENOENT else { return errno }
        let parent = folder.deletingLastPathComponent()
        if parent.pathComponents.count < folder.pathComponents.count {
            let number = makeFolder(parent)
            guard number == 0 else { return number }
        }
        guard mkdir(folder.path, 0o777) != 0 else { return 0 }
        let number = errno
        // Another process may have created the folder in the meantime.
        return stat(folder.path, &status) == 0 ? 0 : number
    }

    package func append(_ data: Data) throws { try data.withUnsafeBytes { try append($0) } }

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

extension PipelineError {
    /// Returns the error for a file or an entry that lacks required content.
    static func corrupt(_ reason: String, underlyingError: (any Error)? = nil) -> PipelineError {
        PipelineError(.recording(.corrupt), reason, underlyingError: underlyingError)
    }

    /// Returns the error for a file that could not be written.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - number: the error number of the system.
    ///   - detail: where it could not be created, or why.
    /// - Returns: an error with code `recording.notWritten`.
    static func notWritten(_ url: URL, errno number: Int32, _ detail: String = "") -> PipelineError {
        PipelineError(
            .recording(.notWritten),
            "the file \(url.lastPathComponent.debugDescription) could not be written\(detail): "
                + String(cString: strerror(number)),
            underlyingError: POSIXErrorCode(rawValue: number).map { POSIXError($0) }
        )
    }

    /// Returns the error for a file that could not be created in its folder.
    static func notWritten(_ url: URL, errno number: Int32, in folder: URL) -> PipelineError {
        notWritten(url, errno: number, " in the folder \(folder.path.debugDescription)")
    }
}
