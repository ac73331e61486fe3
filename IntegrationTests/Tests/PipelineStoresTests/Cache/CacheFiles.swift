import Foundation

@testable import PipelineCaching

/// A temporary folder for caches that is removed when its last reference is released.
final class CacheFiles: Sendable {
    private let parent = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
    /// The folder of the stores, which does not exist at first.
    let url: URL

    init() throws {
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: false)
        url = parent.appending(path: "http")
    }

    deinit { try? FileManager.default.removeItem(at: parent) }

    func store(maximumByteCount: Int = 64 << 20, maximumBodyByteCount: Int? = nil) -> DiskCacheStore {
        DiskCacheStore(url, maximumByteCount: maximumByteCount, maximumBodyByteCount: maximumBodyByteCount)
    }

    /// The names of the files in the folder of the stores.
    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }

    /// The files of bodies.
    var bodies: [URL] {
        get throws { try names.filter { $0.hasSuffix(".body") }.map { url.appending(path: $0) } }
    }

    /// The files of databases, without those beside them.
    var databases: [URL] {
        get throws { try names.filter { $0.hasSuffix(".sqlite") }.map { url.appending(path: $0) } }
    }

    /// Opens the database as another process does.
    func connection() throws -> SQLiteConnection {
        let name = try databases.first?.lastPathComponent ?? ""
        return try SQLiteConnection(try CacheFolder(url.path).resolvedPath() + "/" + name)
    }

    /// Returns the database without its log, and leaves the folder empty.
    func takeDatabase() throws -> (name: String, content: Data) {
        let connection = try connection()
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let file = try databases[0]
        let content = try Data(contentsOf: file)
        try FileManager.default.removeItem(at: url)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        return (file.lastPathComponent, content)
    }

    static func mode(of url: URL) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
    }
}
