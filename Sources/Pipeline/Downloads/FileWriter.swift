import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that a download is written to, by one task at a time; a temporary one goes with the last reference to it.
final class FileWriter: Sendable {
    let url: URL
    private let descriptor: Int32
    private let isTemporary: Bool

    private init(_ url: URL, _ descriptor: Int32, isTemporary: Bool) {
        self.url = url
        self.descriptor = descriptor
        self.isTemporary = isTemporary
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit {
        _ = close(descriptor)
        if isTemporary { _ = unlink(url.path) }
    }

    /// A file of mode 0600 in the directory if one can be made there, else among the system's temporary files.
    static func temporary(in directory: URL?) throws -> FileWriter {
        if let directory, let file = try? temporary(exactlyIn: directory) { return file }
        return try temporary(exactlyIn: FileManager.default.temporaryDirectory)
    }

    static func temporary(exactlyIn directory: URL) throws -> FileWriter {
        let template = directory.appending(path: ".pipeline-XXXXXX", directoryHint: .notDirectory)
        var path = Array(template.path.utf8CString)
        let descriptor = path.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { mkstemp($0) } ?? -1
        }
        guard descriptor >= 0 else { throw PipelineError.notWritten(directory, errno: errno) }
        let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return FileWriter(URL(filePath: name, directoryHint: .notDirectory), descriptor, isTemporary: true)
    }

    /// A file that stays, locked against every other download; `nil` when it does not hold exactly so many bytes.
    static func partial(_ url: URL, holding byteCount: Int) throws -> FileWriter? {
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw PipelineError.notWritten(url, errno: errno) }
        let file = FileWriter(url, descriptor, isTemporary: false)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw PipelineError.notWritten(url, errno: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PipelineError.file(.notWritable, url, "is not a regular file")
        }
        if byteCount > 0, Int(status.st_size) != byteCount { return nil }
        guard ftruncate(descriptor, off_t(byteCount)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            throw PipelineError.notWritten(url, errno: errno)
        }
        return file
    }

    func append(_ data: Data) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = UnsafeRawBufferPointer(rebasing: rest).withMemoryRebound(to: UInt8.self) {
                    write(descriptor, $0.baseAddress, $0.count)
                }
                if count < 0 {
                    if errno == EINTR { continue }
                    throw PipelineError.notWritten(url, errno: errno)
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Gives the file another name on the same volume, with the mode of a file that anybody else would have made.
    ///
    /// - Returns: whether it could; `false` when the name is on another volume.
    func move(to destination: URL, replaces: Bool, isPrivate: Bool = false) throws -> Bool {
        var mode: mode_t = 0o600
        var status = stat()
        // A new file takes the name first, so that another that comes in between is never replaced.
        let place = open(destination.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        if place >= 0 {
            if fstat(place, &status) == 0 { mode = status.st_mode & 0o777 }
            _ = close(place)
        } else {
            let failure = errno
            guard lstat(destination.path, &status) == 0 else {
                throw PipelineError.notWritten(destination, errno: failure)
            }
            if status.st_mode & S_IFMT == S_IFDIR {
                throw PipelineError.notWritten(destination, errno: EISDIR)
            }
            guard failure == EEXIST, replaces else { throw PipelineError.notWritten(destination, errno: failure) }
            if status.st_mode & S_IFMT == S_IFREG { mode = status.st_mode & 0o777 }
        }
        guard rename(url.path, destination.path) != 0 else {
            if !isPrivate { _ = fchmod(descriptor, mode) }
            return true
        }
        let failure = errno
        if place >= 0 { _ = unlink(destination.path) }
        guard failure == EXDEV else { throw PipelineError.notWritten(destination, errno: failure) }
        return false
    }
}
