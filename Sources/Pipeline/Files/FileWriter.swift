package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file that is written by one task at a time; a temporary one is removed when the last reference to it is released.
///
/// All its methods block: they are called in its lane.
package final class FileWriter: Sendable {
    package let url: URL
    let descriptor: Int32
    private let isTemporary: Bool
    let lane: FileLane

    private init(_ url: URL, _ descriptor: Int32, isTemporary: Bool, _ lane: FileLane) {
        self.url = url
        self.descriptor = descriptor
        self.isTemporary = isTemporary
        self.lane = lane
    }

    deinit {
        lane.add { [url, descriptor, isTemporary] in
            if isTemporary { _ = unlink(url.path) }
            // Closing alone would leave it to a process that is being started and has copies of all descriptors for a moment.
            _ = flock(descriptor, LOCK_UN)
            _ = close(descriptor)
        }
    }

    /// A file of mode 0600 in the directory if one can be made there, else among the system's temporary files.
    package static func temporary(in directory: URL?, _ lane: FileLane) throws -> FileWriter {
        if let directory, let file = try? temporary(exactlyIn: directory, lane) { return file }
        return try temporary(exactlyIn: FileManager.default.temporaryDirectory, lane)
    }

    static func temporary(exactlyIn directory: URL, _ lane: FileLane) throws -> FileWriter {
        let url = temporaryName(in: directory)
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PipelineError.notWritten(directory, errno: errno) }
        return FileWriter(url, descriptor, isTemporary: true, lane)
    }

    private static func temporaryName(in directory: URL) -> URL {
        directory.appending(path: ".pipeline-\(UUID().uuidString)", directoryHint: .notDirectory)
    }

    package func append(_ data: Data) throws {
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    throw PipelineError.notWritten(url, errno: errno)
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Reads bytes from a place in the file, fewer if it ends before.
    package func read(_ byteCount: Int, from offset: Int) throws -> Data {
        try Data.reading(byteCount) { buffer, filled in
            pread(descriptor, buffer, byteCount - filled, off_t(offset + filled))
        }
    }
}

// MARK: - Files that stay

extension FileWriter {
    /// A file that stays, locked against every other download; made when it is not there.
    static func partial(_ url: URL, _ lane: FileLane) throws -> FileWriter {
        // Between opening and locking, the download that had it may have moved it away: then its name is another file's.
        for _ in 0..<100 {
            if let file = try lock(url, flags: O_CREAT, lane) { return file }
        }
        throw PipelineError.notWritten(url, errno: EWOULDBLOCK)
    }

    /// Removes a file that stays, and what else belongs to it, unless a download has it.
    static func removePartial(_ url: URL, _ lane: FileLane, with removeRest: () -> Void) {
        guard let file = try? lock(url, flags: 0, lane) else { return }
        withExtendedLifetime(file) {
            removeRest()
            _ = unlink(url.path)
        }
    }

    /// Removes the name if it is still this file's.
    func removeName() {
        if isNamed { _ = unlink(url.path) }
    }

    private var isNamed: Bool {
        var mine = stat()
        var named = stat()
        return fstat(descriptor, &mine) == 0 && lstat(url.path, &named) == 0
            && named.st_ino == mine.st_ino && named.st_dev == mine.st_dev
    }

    /// `nil` when the name is another file's by now.
    private static func lock(_ url: URL, flags: Int32, _ lane: FileLane) throws -> FileWriter? {
        let descriptor = open(url.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, 0o600)
        guard descriptor >= 0 else { throw PipelineError.notWritten(url, errno: errno) }
        let file = FileWriter(url, descriptor, isTemporary: false, lane)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw PipelineError.notWritten(url, errno: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PipelineError.file(.notWritable, url, "is not a regular file")
        }
        return file.isNamed ? file : nil
    }

    /// How many bytes are in it.
    var byteCount: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Keeps so many bytes, and writes after them.
    func truncate(to byteCount: Int) throws {
        guard ftruncate(descriptor, off_t(byteCount)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            throw PipelineError.notWritten(url, errno: errno)
        }
    }
}

// MARK: - Moving

extension FileWriter {
    /// Gives the file another name on the same volume, with the mode of a file that anybody else would have made.
    ///
    /// - Returns: whether it could; `false` when the name is on another volume.
    func move(to destination: URL, replaces: Bool, isPrivate: Bool = false) throws -> Bool {
        var status = stat()
        var mode: mode_t?
        if lstat(destination.path, &status) == 0 {
            let kind = status.st_mode & S_IFMT
            if kind == S_IFDIR { throw PipelineError.notWritten(destination, errno: EISDIR) }
            guard replaces else { throw PipelineError.notWritten(destination, errno: EEXIST) }
            if kind == S_IFREG { mode = status.st_mode & 0o777 }
        }
        if !isPrivate { _ = fchmod(descriptor, mode ?? Self.modeOfNewFiles()) }
        let failure = replaces ? renameFile(to: destination) : linkFile(to: destination)
        guard let failure else { return true }
        if !isPrivate { _ = fchmod(descriptor, 0o600) }
        guard failure == EXDEV else { throw PipelineError.notWritten(destination, errno: failure) }
        return false
    }

    private func renameFile(to destination: URL) -> Int32? {
        rename(url.path, destination.path) == 0 ? nil : errno
    }

    /// A second name, unlike a rename never in place of a file that has come in between, in place of the first.
    private func linkFile(to destination: URL) -> Int32? {
        if link(url.path, destination.path) == 0 {
            _ = unlink(url.path)
            return nil
        }
        let failure = errno
        guard failure == EPERM || failure == ENOTSUP || failure == EMLINK || failure == ENOSYS else { return failure }
        // A volume without links: the name is taken first, by an empty file.
        let place = Self.create(destination)
        guard place >= 0 else { return errno }
        _ = close(place)
        let renaming = renameFile(to: destination)
        if renaming != nil { _ = unlink(destination.path) }
        return renaming
    }

    /// A new file with the mode that the process gives it.
    private static func create(_ url: URL) -> Int32 {
        open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    }

    /// The mode that the process gives new files; asked of a file, since asking for the mask would change it.
    private static func modeOfNewFiles() -> mode_t {
        let url = temporaryName(in: FileManager.default.temporaryDirectory)
        let descriptor = create(url)
        guard descriptor >= 0 else { return 0o600 }
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        _ = unlink(url.path)
        _ = close(descriptor)
        return isKnown ? status.st_mode & 0o777 : 0o600
    }
}
