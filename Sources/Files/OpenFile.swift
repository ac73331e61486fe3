public import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// An open regular file of mode 0600 that is closed when its last reference is released.
///
/// It belongs to the user of the process or to root: another user could have created it to plant cookies.
/// All methods block. Symbolic links are not followed: opening one fails with `ELOOP`.
public final class OpenFile: Sendable {
    /// What distinguishes a version of a file from other versions as long as this one is open.
    public struct Identity: Hashable {
        private let device: dev_t
        private let inode: ino_t
        private let byteCount: off_t
        private let seconds: Int
        private let nanoseconds: Int

        fileprivate init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
            byteCount = status.st_size
            #if canImport(Darwin)
            let time = status.st_mtimespec
            #else
            let time = status.st_mtim
            #endif
            seconds = Int(time.tv_sec)
            nanoseconds = Int(time.tv_nsec)
        }

        /// Returns whether both are versions of one file, which was not replaced in between.
        public func isSameFile(as other: Identity) -> Bool { device == other.device && inode == other.inode }
    }

    private let descriptor: Int32

    /// Opens a file, or creates it with mode 0600 if the flags contain `O_CREAT`.
    public init(_ path: String, _ flags: Int32) throws(POSIXError) {
        descriptor = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .current }
        let status = try status
        try Self.requireRegularFile(status)
        guard status.st_uid == geteuid() || status.st_uid == 0 else { throw POSIXError(.EPERM) }
    }

    deinit { _ = close(descriptor) }

    /// What distinguishes this version of the file from others.
    public var identity: Identity { get throws(POSIXError) { Identity(try status) } }

    /// Whether no other user may read or write the file.
    public var isPrivate: Bool { get throws(POSIXError) { try status.st_mode & 0o077 == 0 } }

    /// The current length of the file.
    public var byteCount: Int { get throws(POSIXError) { Int(try status.st_size) } }

    /// Whether the file still has a name.
    public var isLinked: Bool { get throws(POSIXError) { try status.st_nlink > 0 } }

    private var status: stat {
        get throws(POSIXError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .current }
            return status
        }
    }

    /// Returns the identity of the file with a path, without opening it; `nil` if there is none.
    ///
    /// As for opening, the file must be a regular one.
    public static func identity(of path: String) throws(POSIXError) -> Identity? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .current }
            return nil
        }
        try requireRegularFile(status)
        return Identity(status)
    }

    private static func requireRegularFile(_ status: stat) throws(POSIXError) {
        guard status.st_mode & S_IFMT != S_IFLNK else { throw POSIXError(.ELOOP) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw POSIXError(.EINVAL) }
    }

    // MARK: Content

    /// Returns the bytes from the current position to the end, but at most a number of them.
    public func content(upTo byteCount: Int) throws(POSIXError) -> Data {
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        do {
            return try handle.read(upToCount: byteCount) ?? Data()
        } catch {
            throw POSIXError(.EIO)
        }
    }

    /// Returns bytes from a position on, at most a number of them; empty at the end.
    public func content(at offset: Int, upTo byteCount: Int) throws(POSIXError) -> Data {
        var data = Data(count: byteCount)
        while true {
            let count = data.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { pread(descriptor, $0, bytes.count, off_t(offset)) } ?? 0
            }
            if count < 0 {
                guard errno == EINTR else { throw .current }
                continue
            }
            data.removeSubrange(count...)
            return data
        }
    }

    /// Writes data at the current position.
    public func append(_ data: Data) throws(POSIXError) {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { throw .current }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    /// Waits until the content is on disk.
    public func synchronize() throws(POSIXError) {
        guard Self.synchronize(descriptor) else { throw .current }
    }

    private static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        // There, `fsync` leaves data in the cache of the disk. Some file systems support nothing else.
        if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    /// Waits until the names in a folder are on disk, if the system supports it.
    public static func synchronizeFolder(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = synchronize(descriptor)
        _ = close(descriptor)
    }

    // MARK: Replacement

    /// Replaces the file with a path by a new one; its folder is there, and a lock prevents two changes at once.
    ///
    /// - Returns: the new file, which is on disk.
    public static func replace(_ path: String, with data: Data) throws(POSIXError) -> OpenFile {
        let temporary = path + ".tmp"
        _ = unlink(temporary)
        let file = try OpenFile(temporary, O_RDWR | O_CREAT | O_EXCL)
        do throws(POSIXError) {
            try file.append(data)
            try file.synchronize()
            guard rename(temporary, path) == 0 else { throw POSIXError.current }
        } catch {
            _ = unlink(temporary)
            throw error
        }
        // The file is complete without this, but a power failure could bring back the previous one.
        synchronizeFolder(folder(of: path))
        return file
    }

    // MARK: Folder

    /// Returns the path of the folder that contains a file.
    public static func folder(of path: String) -> String { (path as NSString).deletingLastPathComponent }

    /// Creates a folder of mode 0700, and those that contain it, unless they exist.
    public static func createFolder(_ path: String) throws(POSIXError) {
        if path.isEmpty || access(path, F_OK) == 0 { return }
        try createFolder(folder(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .current }
    }

    // MARK: Lock

    /// Takes the advisory lock of the file; returns `false` if another process or another open file has it.
    public func tryLock() throws(POSIXError) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK || errno == EINTR else { throw .current }
        return false
    }

    /// Releases the lock.
    ///
    /// Closing alone would keep it while a process is being started, because that briefly has copies of all
    /// descriptors.
    public func unlock() { _ = flock(descriptor, LOCK_UN) }
}

extension POSIXError {
    /// The error of the last system call that failed on this thread.
    public static var current: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
