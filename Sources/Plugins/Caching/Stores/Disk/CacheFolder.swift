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
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .current }
        guard status.st_mode & S_IFMT != S_IFLNK else { throw POSIXError(.ELOOP) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw POSIXError(.ENOTDIR) }
    }

    /// Returns the path of the folder without symbolic links on the way to it, which SQLite would refuse.
    func resolvedPath() throws(POSIXError) -> String {
        guard let pointer = realpath(path, nil) else { throw .current }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    // MARK: Files

    /// Removes a file; does nothing if it does not exist or cannot be removed.
    func remove(_ name: String) { _ = unlink(path(of: name)) }

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

/// The files of bodies, each named after the identifier of its entry and a random number.
///
/// The number distinguishes two bodies that are written for one identifier. A writer locks its file until the database
/// contains it, so a file that can be locked and is not in the database belongs to a process that has ended.
extension CacheFolder {
    private static let suffix = ".body"

    /// Creates the file of a body and takes its lock.
    func makeBody(_ id: UUID) throws(POSIXError) -> (name: String, file: OpenFile) {
        for _ in 0..<3 {
            let name = "\(id.uuidString)-\(String(UInt32.random(in: 0 ... .max), radix: 16))\(Self.suffix)"
            let file = try OpenFile(path(of: name), O_WRONLY | O_CREAT | O_EXCL)
            // Another process may find the file before it is locked, and remove it.
            if try file.tryLock(), try file.isLinked { return (name, file) }
        }
        throw POSIXError(.EWOULDBLOCK)
    }

    /// Opens the file of a body; returns `nil` if it is missing or does not have the length.
    ///
    /// Bodies are not synchronized with the disk: after a power failure a file may be shorter than its row says, and
    /// counts as missing.
    func openBody(_ name: String, byteCount: Int) throws(POSIXError) -> OpenFile? {
        do throws(POSIXError) {
            let file = try OpenFile(path(of: name), O_RDONLY | O_NONBLOCK)
            return try file.byteCount == byteCount ? file : nil
        } catch {
            switch error.code {
            case .ENOENT, .ELOOP, .EINVAL, .ENOTDIR: return nil
            default: throw error
            }
        }
    }

    /// Returns the identifier in the name of a body's file; `nil` if it is another file.
    private static func id(in name: String) -> UUID? {
        name.hasSuffix(suffix) ? UUID(uuidString: String(name.prefix(36))) : nil
    }

    /// Removes the files of bodies that a process has left when it was killed.
    ///
    /// The database contains the files `known`, and perhaps later ones; `currentName` returns that of an entry.
    func removeOrphans(
        known: Set<String>,
        currentName: (UUID) throws(SQLiteError) -> String?
    ) throws(SQLiteError) {
        guard let names = try? names else { return }
        for name in names where !known.contains(name) {
            guard let id = Self.id(in: name), let file = try? OpenFile(path(of: name), O_RDONLY | O_NONBLOCK),
                let isLocked = try? file.tryLock(), isLocked
            else { continue }
            if try currentName(id) != name { remove(name) }
            file.unlock()
        }
    }
}
#endif
