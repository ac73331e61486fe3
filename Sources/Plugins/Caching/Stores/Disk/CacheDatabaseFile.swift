#if SQLite || canImport(Darwin)
import Foundation
import PipelineFiles

/// An open database of a ``CacheFolder``.
///
/// A database that is damaged, or has other tables, is replaced by one with a new name, and then removed. A process
/// that has it open keeps working with the removed file until it notices. It cannot damage the new database, because
/// their files share no name.
struct CacheDatabaseFile {
    let connection: SQLiteConnection
    /// The name of the file in its folder.
    let name: String
    /// A new value each time that a file is opened.
    let opening = UUID()
    private let identity: OpenFile.Identity

    /// Returns whether the file still has its name, so that it was neither replaced nor removed.
    func isCurrent(in folder: CacheFolder) -> Bool {
        (try? OpenFile.identity(of: folder.path(of: name)))?.isSameFile(as: identity) == true
    }

    // MARK: Opening

    /// Opens the database of a folder; creates both if they do not exist.
    ///
    /// If the latest database is `replaced`, a new one takes its place, with `secret` unless it is `nil`.
    static func open(
        in folder: CacheFolder,
        replacing replaced: String? = nil,
        secret: Data? = nil
    ) throws(CacheStoreError) -> Self {
        try folder.perform { () throws(POSIXError) in try folder.create() }
        return try folder.withLock { () throws(CacheStoreError) in
            let names = try folder.perform { () throws(POSIXError) in try folder.names }
            let latest = names.compactMap(generation).max() ?? 0
            if latest > 0, let intact = try openIntact(name(latest), in: folder, unless: replaced) {
                // A process that had a replaced database open may have left files beside it, which contain responses.
                for other in names where other.hasPrefix(prefix) && !other.hasPrefix(intact.name) {
                    folder.remove(other)
                }
                return intact
            }
            let name = name(latest + 1)
            // An empty file, so that no later database gets a former name. SQLite gives its mode to those beside it.
            try folder.perform(.notWritable) { () throws(POSIXError) in
                _ = try OpenFile(folder.path(of: name), O_RDWR | O_CREAT | O_EXCL)
            }
            // Removed before there are tables, which might not fit on the disk otherwise.
            for other in names where other.hasPrefix(prefix) { folder.remove(other) }
            return try create(name, in: folder, secret)
        }
    }

    /// Opens a database; returns `nil` if it is damaged or has other tables.
    private static func openIntact(
        _ name: String,
        in folder: CacheFolder,
        unless replaced: String?
    ) throws(CacheStoreError) -> Self? {
        guard name != replaced else { return nil }
        do throws(SQLiteError) {
            let file = try connect(name, in: folder)
            guard try file.connection.rows("PRAGMA user_version", read: { $0.integer(0) }) == [CacheSchema.version]
            else { return nil }
            try file.connection.execute(CacheSchema.settings)
            return try file.connection.rows("SELECT byteCount FROM files", read: { $0.integer(0) }).isEmpty ? nil : file
        } catch {
            if error.isCorrupt { return nil }
            throw CacheStoreError(error, folder.store)
        }
    }

    /// Creates the tables in an empty file.
    private static func create(
        _ name: String,
        in folder: CacheFolder,
        _ secret: Data?
    ) throws(CacheStoreError) -> Self {
        do throws(SQLiteError) {
            let file = try connect(name, in: folder)
            try file.connection.execute(CacheSchema.creation + CacheSchema.settings)
            if let secret { try file.connection.run("INSERT INTO secrets VALUES (1, ?)", [.blob(secret)]) }
            return file
        } catch {
            throw CacheStoreError(error, folder.store)
        }
    }

    private static func connect(_ name: String, in folder: CacheFolder) throws(SQLiteError) -> Self {
        let (path, identity): (String, OpenFile.Identity)
        do throws(POSIXError) {
            // Files are not opened here: closing one would release the locks that SQLite has on it.
            for suffix in ["-wal", "-shm"] { _ = try OpenFile.identity(of: folder.path(of: name + suffix)) }
            guard let found = try OpenFile.identity(of: folder.path(of: name)) else { throw POSIXError(.ENOENT) }
            (path, identity) = (try folder.resolvedPath() + "/" + name, found)
        } catch {
            throw SQLiteError(error)
        }
        return Self(connection: try SQLiteConnection(path), name: name, identity: identity)
    }

    // MARK: Names

    private static let prefix = "cache-\(CacheSchema.version)-"
    private static let suffix = ".sqlite"

    private static func name(_ generation: Int) -> String { "\(prefix)\(generation)\(suffix)" }

    private static func generation(_ name: String) -> Int? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        return Int(name.dropFirst(prefix.count).dropLast(suffix.count)).flatMap { 0..<1 << 32 ~= $0 ? $0 : nil }
    }
}
#endif
