#if SQLite || canImport(Darwin)
public import Foundation
public import PipelineCore

/// A store that keeps responses in a folder.
///
/// ```swift
/// let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
/// let store = DiskCacheStore(caches.appending(path: "http"))
/// ```
///
/// **Effects**: keeps responses in an SQLite database, and bodies of more than 32 KiB in files beside it. A folder that
/// does not exist is created with mode 0700 when the store is first used, and files have mode 0600. Bodies are written
/// to the disk as they arrive; at most 32 KiB and one piece of each are in memory.
///
/// Several stores and several processes can share a folder on a local volume. If a process is killed, only the
/// responses that it was writing are lost; the next store that opens the folder removes what is left of them. After a
/// power failure, the latest responses may be missing. A database that is damaged, or that another version of the
/// package has written, is replaced by an empty one. If the app removes the folder, the store begins with an empty one.
///
/// The database and all bodies together, including unfinished ones of this store, have at most `maximumByteCount` bytes
/// on the disk; responses that were not used for the longest time are removed first. An empty database has about
/// 64 KiB. Up to 4 MiB of the log, up to 4 MiB of unused pages, and unfinished bodies of other processes come on top. A
/// key has at most 16 variants. The latest 1,000 removals of resources and accounts are kept, in up to 100 KiB. A
/// response is not stored if more of them have followed since its lookup, or if its database was replaced.
///
/// Calls use a thread of the store, and up to four further threads for bodies in files. They complete even if their
/// task is cancelled. A call waits for another process for up to 1 s.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `maximumByteCount` | 256 MiB |
/// | `maximumBodyByteCount` | an eighth of `maximumByteCount` |
///
/// **Errors**: ``CacheStoreError``. A method that has failed can be called again: it works as soon as the disk does.
/// Symbolic links are refused in place of the folder and of its files.
///
/// **Secrets**: the folder contains header fields and bodies as plain text, also of removed responses until their bytes
/// are overwritten. Put it in a folder that other users cannot read, and exclude it from backups.
///
/// On platforms other than Apple's, the store needs the trait `SQLite`.
public struct DiskCacheStore: CacheStore {
    private let database: CacheDatabase
    private let maximumBodyByteCount: Int

    /// Creates a store; touches no file.
    ///
    /// - Parameters:
    ///   - folder: the file URL of the folder, which does not have to exist. Nothing else may use it.
    ///   - maximumByteCount: the largest size of all responses together, more than zero.
    ///   - maximumBodyByteCount: the largest size of one body, up to `maximumByteCount`; `nil` for an eighth of it.
    public init(_ folder: URL, maximumByteCount: Int = 256 << 20, maximumBodyByteCount: Int? = nil) {
        let bodyByteCount = maximumBodyByteCount ?? maximumByteCount / 8
        precondition(folder.isFileURL, "the URL of a cache folder has the scheme \(folder.scheme ?? "nil"), not file")
        precondition(maximumByteCount > 0, "the maximum byte count \(maximumByteCount) is not positive")
        precondition(
            0...maximumByteCount ~= bodyByteCount,
            "the maximum body byte count \(bodyByteCount) is not in 0...\(maximumByteCount)"
        )
        database = CacheDatabase(CacheFolder(folder.path), maximumByteCount: maximumByteCount)
        self.maximumBodyByteCount = bodyByteCount
    }

    /// Returns the secret in the database, which is made when it is first needed.
    public func secret() async throws -> Data { try await database.secret() }

    /// Returns the variants of a key, the latest response date first, and the number of the latest removal.
    public func lookUp(_ key: CacheKey) async throws -> (entries: [CacheEntry], generation: Data?) {
        try await database.lookUp(key)
    }

    /// Opens the body of an entry; returns `nil` if it was removed, or if its file is missing or has another length.
    public func body(of entry: CacheEntry) async throws -> (any CacheBodyReader)? {
        try await database.body(of: entry)
    }

    /// Begins to store a response; returns `nil` if its body or its header fields are too large for the store.
    ///
    /// Touches no file before the body has more than 32 KiB or is finished.
    public func write(_ entry: CacheEntry, byteCount: Int?) async throws -> (any CacheBodyWriter)? {
        let headers = entry.headers.stored
        let limit = min(maximumBodyByteCount, database.maximumByteCount - headers.count)
        guard limit >= byteCount ?? 0 else { return nil }
        return DiskCacheWriter(entry.rounded, headers: headers, database, maximumBodyByteCount: limit)
    }

    /// Replaces the row of an entry, except for its key and its body; does nothing if the entry is gone.
    public func update(_ entry: CacheEntry) async throws { try await database.update(entry) }

    /// Removes one entry and its file.
    public func remove(_ entry: CacheEntry) async throws { _ = try await database.remove(.entry(entry.id)) }

    /// Removes the responses of a resource, in steps between which other calls run.
    public func remove(resource: String) async throws {
        while try await database.remove(.resource(resource)) {}
    }

    /// Removes the responses of an account, in steps between which other calls run; those of all accounts at once.
    public func remove(account: String?) async throws {
        guard let account else { return try await database.removeAll() }
        while try await database.remove(.account(account)) {}
    }

    /// Takes the lock of a key, which all stores of the folder share.
    public func lock(_ key: CacheKey, for duration: Duration, at now: Date) async throws -> UUID? {
        try await database.lock(key, for: duration, at: now)
    }

    /// Releases the lock of a key; does nothing if its token is another one.
    public func unlock(_ key: CacheKey, _ token: UUID) async throws { try await database.unlock(key, token) }
}

extension DiskCacheStore: SafelyDescribed {
    /// The name of the folder.
    public var description: String { "cache in the folder \(database.folder.name.debugDescription)" }
}
#endif
