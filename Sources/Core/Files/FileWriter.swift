package import Foundation

/// A file that one task at a time writes; a temporary file is removed when its last reference is released.
///
/// All methods block, so they must be called in its lane.
package final class FileWriter: Sendable {
    package let url: URL
    /// The file that errors name: for a temporary file, the one that it will become, if that is known.
    private let shownURL: URL?
    let descriptor: Int32
    private let isTemporary: Bool
    let lane: FileLane

    private init(_ url: URL, _ descriptor: Int32, isTemporary: Bool, _ lane: FileLane, for shownURL: URL?) {
        self.url = url
        self.shownURL = shownURL
        self.descriptor = descriptor
        self.isTemporary = isTemporary
        self.lane = lane
    }

    deinit {
        lane.add { [url, descriptor, isTemporary] in
            if isTemporary { _ = unlink(url.path) }
            // Closing alone would keep the lock if a process is being started, because it briefly has copies of all
            // descriptors.
            _ = flock(descriptor, LOCK_UN)
            _ = close(descriptor)
        }
    }

    /// Creates a file of mode 0600 in the directory or, if that fails, in the system's temporary directory.
    ///
    /// - Parameters:
    ///   - directory: the directory to try first.
    ///   - lane: runs the methods of the file.
    ///   - destination: the file that errors name.
    /// - Returns: the file.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/file(_:)``.
    package static func temporary(
        in directory: URL?,
        _ lane: FileLane,
        for destination: URL? = nil
    ) throws -> FileWriter {
        if let directory, let file = try? temporary(exactlyIn: directory, lane, for: destination) { return file }
        return try temporary(exactlyIn: FileManager.default.temporaryDirectory, lane, for: destination)
    }

    static func temporary(exactlyIn directory: URL, _ lane: FileLane, for destination: URL?) throws -> FileWriter {
        let url = temporaryName(in: directory)
        let descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw PipelineError.notWritten(directory, errno: errno) }
        return FileWriter(url, descriptor, isTemporary: true, lane, for: destination)
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
                    throw PipelineError.notWritten(shownURL, errno: errno)
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Reads bytes at an offset; returns fewer if the file ends first.
    package func read(_ byteCount: Int, from offset: Int) throws -> Data {
        try Data.reading(byteCount) { buffer, filled in
            pread(descriptor, buffer, byteCount - filled, off_t(offset + filled))
        }
    }
}

// MARK: - Files that stay

extension FileWriter {
    /// Opens a permanent file and locks it against other downloads; creates it if it does not exist.
    static func partial(_ url: URL, _ lane: FileLane) throws -> FileWriter {
        // Between opening and locking, the download that held the file may have moved it; the name then belongs to
        // another file.
        for _ in 0..<100 {
            if let file = try lock(url, flags: O_CREAT, lane) { return file }
        }
        throw PipelineError.notWritten(url, errno: EWOULDBLOCK)
    }

    /// Removes a permanent file and what belongs to it, unless a download holds it.
    static func removePartial(_ url: URL, _ lane: FileLane, with removeRest: () -> Void) {
        guard let file = try? lock(url, flags: 0, lane) else { return }
        withExtendedLifetime(file) {
            removeRest()
            _ = unlink(url.path)
        }
    }

    /// Removes the name if it still belongs to this file.
    func removeName() {
        if isNamed { _ = unlink(url.path) }
    }

    private var isNamed: Bool {
        var mine = stat()
        var named = stat()
        return fstat(descriptor, &mine) == 0 && lstat(url.path, &named) == 0
            && named.st_ino == mine.st_ino && named.st_dev == mine.st_dev
    }

    /// Returns `nil` if the name now belongs to another file.
    private static func lock(_ url: URL, flags: Int32, _ lane: FileLane) throws -> FileWriter? {
        let descriptor = open(url.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | flags, 0o600)
        guard descriptor >= 0 else { throw PipelineError.notWritten(url, errno: errno) }
        let file = FileWriter(url, descriptor, isTemporary: false, lane, for: url)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw PipelineError.notWritten(url, errno: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PipelineError.file(.notWritable, url, "is not a regular file")
        }
        return file.isNamed ? file : nil
    }

    /// The length of the file in bytes.
    var byteCount: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Truncates the file to a length, and continues writing at its end.
    func truncate(to byteCount: Int) throws {
        guard ftruncate(descriptor, off_t(byteCount)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
            throw PipelineError.notWritten(url, errno: errno)
        }
    }
}

// MARK: - Moving

extension FileWriter {
    /// Renames the file on the same volume and gives it the mode of a normally created file.
    ///
    /// - Returns: `false` if the destination is on another volume, otherwise `true`.
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

    /// Links the file to its new name and removes the old one: unlike a rename, this cannot replace a file that has
    /// just appeared.
    private func linkFile(to destination: URL) -> Int32? {
        if link(url.path, destination.path) == 0 {
            _ = unlink(url.path)
            return nil
        }
        let failure = errno
        guard failure == EPERM || failure == ENOTSUP || failure == EMLINK || failure == ENOSYS else { return failure }
        // On a volume without links, an empty file reserves the name first.
        let place = Self.create(destination)
        guard place >= 0 else { return errno }
        _ = close(place)
        let renaming = renameFile(to: destination)
        if renaming != nil { _ = unlink(destination.path) }
        return renaming
    }

    /// Creates a file with the process's default mode.
    private static func create(_ url: URL) -> Int32 {
        open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    }

    /// Returns the default mode of new files; it is read from a new file, because reading the umask would change it.
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
