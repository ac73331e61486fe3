#if SQLite || canImport(Darwin)
import Foundation
import PipelineFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The folder of a ``DiskCacheStore``, in which every file has mode 0600.
///
/// All methods block.
struct CacheFolder: Sendable {
    /// What distinguishes a file from the others that exist.
    struct Identity: Equatable {
        private let device: dev_t
        private let inode: ino_t

        fileprivate init(_ status: stat) {
            device = status.st_dev
            inode = status.st_ino
        }
    }

    private let path: String

    init(_ path: String) { self.path = path }

    /// What an error calls the store; without the folders that contain it.
    var store: String { "the disk cache \(name.debugDescription)" }

    /// The last path component.
    var name: String { String(path.split(separator: "/").last ?? "") }

    func path(of name: String) -> String { path + "/" + name }

    /// The names of the files in the folder, in no order.
    var names: [String] {
        get throws(POSIXError) {
            do {
                return try FileManager.default.contentsOfDirectory(atPath: path)
            } catch {
                throw POSIXError(.EACCES)
            }
        }
    }

    /// Creates the folder with mode 0700 unless it exists; a symbolic link is refused with `ELOOP`.
    func create() throws(POSIXError) {
        try OpenFile.createFolder(path)
        guard try Self.mode(path)?.type == S_IFDIR else { throw POSIXError(.ENOTDIR) }
    }

    /// Returns the path of the folder without symbolic links on the way to it, which SQLite would refuse.
    func resolvedPath() throws(POSIXError) -> String {
        guard let pointer = realpath(path, nil) else { throw .current }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    // MARK: Files

    /// Returns the identity of a regular file; `nil` if there is none.
    ///
    /// It does not open the file: closing it would release the locks that SQLite has on it.
    func identity(of name: String) throws(POSIXError) -> Identity? {
        guard let (type, identity) = try Self.mode(path(of: name)) else { return nil }
        guard type == S_IFREG else { throw POSIXError(.EINVAL) }
        return identity
    }

    /// Removes a file; does nothing if it does not exist or cannot be removed.
    func remove(_ name: String) { _ = unlink(path(of: name)) }

    /// Returns the type and the identity of what has a path; `nil` if there is nothing.
    private static func mode(_ path: String) throws(POSIXError) -> (type: mode_t, identity: Identity)? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw .current }
            return nil
        }
        guard status.st_mode & S_IFMT != S_IFLNK else { throw POSIXError(.ELOOP) }
        return (status.st_mode & S_IFMT, Identity(status))
    }

    // MARK: Lock

    /// Runs a closure while no other store opens its database in this folder; waits up to 1 s.
    func withLock<Result>(_ body: () throws(CacheStoreError) -> Result) throws(CacheStoreError) -> Result {
        let file = try perform { () throws(POSIXError) in
            // Never removed, because another process might have just opened it.
            let file = try OpenFile(path(of: "lock"), O_RDWR | O_CREAT | O_NONBLOCK)
            let deadline = ContinuousClock.now + .seconds(1)
            while !(try file.tryLock()) {
                guard ContinuousClock.now < deadline else { throw POSIXError(.EWOULDBLOCK) }
                Thread.sleep(forTimeInterval: 0.002)
            }
            return file
        }
        defer { file.unlock() }
        return try body()
    }

    /// Runs a closure, and names the store in its error, with a code that applies unless the system's error has one.
    func perform<Result>(
        _ code: CacheStoreError.Code = .unavailable,
        _ body: () throws(POSIXError) -> Result
    ) throws(CacheStoreError) -> Result {
        do throws(POSIXError) {
            return try body()
        } catch {
            throw CacheStoreError(code, store, error)
        }
    }
}
#endif
