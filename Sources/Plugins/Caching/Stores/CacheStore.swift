public import Foundation

/// A store of responses, in memory, on disk or on a server.
///
/// A store limits the bytes that it keeps, or relies on its server to do so. When it is full, it removes entries that
/// have not been used for a long time. It does not interpret responses: the plugin decides what is stored, reused and
/// removed. A store may lose entries at any time, but never returns the bytes of another entry, or fewer than an entry
/// says.
///
/// Its methods must not block their thread: callers could not stop waiting when their time is over.
///
/// Check a store of your own with `CacheStoreConformance` of `PipelineTesting`.
public protocol CacheStore: Sendable {
    /// Whether all methods return without waiting, so that callers set no time limit; defaults to `false`.
    var returnsAtOnce: Bool { get }

    /// Returns 32 random bytes, the same for all processes that share the store, as long as its content exists.
    ///
    /// Plugins use the result for at most a minute, unless ``returnsAtOnce`` is `true`.
    func secret() async throws -> Data

    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first, and what identifies the state of
    /// the store.
    ///
    /// An entry that is still being written is not included.
    ///
    /// The plugin passes the generation to ``CacheBodyWriter/finish(totalByteCount:ifUnchangedSince:)``. Without it, a
    /// response to a request that began before another process has removed the responses of the resource is stored
    /// after that.
    ///
    /// - Parameter key: the key.
    /// - Returns: the variants, empty if there are none, and bytes whose meaning only the store knows; `nil` if it does
    ///   not notice removals.
    /// - Throws: an error if the store fails.
    func lookUp(_ key: CacheKey) async throws -> (entries: [CacheEntry], generation: Data?)

    /// Opens the body of an entry; returns `nil` if the store no longer has the entry.
    ///
    /// The reader stays valid if the entry is removed or replaced.
    func body(of entry: CacheEntry) async throws -> (any CacheBodyReader)?

    /// Begins to store a response; returns `nil` if the store has no room for it.
    ///
    /// The entry becomes visible with ``CacheBodyWriter/finish(totalByteCount:ifUnchangedSince:)``. Any number of
    /// writers may exist at the same time, also for one key.
    ///
    /// - Parameters:
    ///   - entry: the response; its `byteCount` and `totalByteCount` are ignored.
    ///   - byteCount: the expected number of bytes; `nil` if it is unknown.
    /// - Returns: the writer.
    /// - Throws: an error if the store fails.
    func write(_ entry: CacheEntry, byteCount: Int?) async throws -> (any CacheBodyWriter)?

    /// Replaces the properties of an entry, but not its key and its body; does nothing if the entry is gone.
    ///
    /// If another entry of the key has the new variant, it is removed.
    func update(_ entry: CacheEntry) async throws

    /// Removes one entry; does nothing if it is gone.
    func remove(_ entry: CacheEntry) async throws

    /// Removes the responses of a resource for all accounts.
    func remove(resource: String) async throws

    /// Removes the responses of an account, or of all accounts if it is `nil`.
    func remove(account: String?) async throws

    /// Takes the lock of a key, so that only one caller revalidates its response in the background.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - duration: the time after which the lock expires unless it is released, more than zero.
    ///   - now: the current date. A store that several machines share ignores it and uses its own clock.
    /// - Returns: a token; `nil` if another caller has the lock.
    /// - Throws: an error if the store fails.
    func lock(_ key: CacheKey, for duration: Duration, at now: Date) async throws -> UUID?

    /// Releases the lock of a key; does nothing if the lock has another token.
    func unlock(_ key: CacheKey, _ token: UUID) async throws
}

extension CacheStore {
    /// The default, `false`: methods may wait.
    public var returnsAtOnce: Bool { false }

    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first; empty if there are none.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] { try await lookUp(key).entries }
}

/// An open body of a stored response.
public protocol CacheBodyReader: Sendable {
    /// The whole body if it is in memory; `nil` if it must be read in pieces.
    var bytes: Data? { get }

    /// Returns bytes of the body.
    ///
    /// - Parameters:
    ///   - offset: the position of the first byte, counted from the first stored one.
    ///   - count: the maximum number of bytes to return, 1 and up.
    /// - Returns: at least one byte, or no bytes at the end of the body.
    /// - Throws: an error if the bytes cannot be read, or if the body is shorter than its entry says.
    func read(at offset: Int, upTo count: Int) async throws -> Data
}

/// The body of a response that is being stored.
///
/// The plugin calls the methods one after another. A writer that is released before `finish` discards its bytes.
public protocol CacheBodyWriter: Sendable {
    /// Appends bytes.
    ///
    /// - Throws: an error if the bytes cannot be stored, or if the body exceeds the limit of the store. The writer has
    ///   then discarded all bytes.
    func append(_ bytes: Data) async throws

    /// Makes the entry visible, in place of an earlier entry with the same key and variant, unless responses of its
    /// resource or its account were removed after a lookup.
    ///
    /// If the key then has more than 16 variants, the one with the earliest `responseDate` is removed.
    ///
    /// The store compares the generation and makes the entry visible in one step. A store may also refuse an entry
    /// because it no longer knows all removals. One whose lookups return no generation ignores the parameter.
    ///
    /// - Parameters:
    ///   - totalByteCount: the length of the whole representation; `nil` if it is unknown.
    ///   - generation: what ``CacheStore/lookUp(_:)`` returned before the request was sent; `nil` to make the entry
    ///     visible in any case.
    /// - Returns: the stored entry; `nil` if responses were removed, in which case the bytes are discarded.
    /// - Throws: an error if the response cannot be stored.
    func finish(totalByteCount: Int?, ifUnchangedSince generation: Data?) async throws -> CacheEntry?

    /// Discards the bytes that have been written.
    func discard() async
}

extension CacheBodyWriter {
    /// Makes the entry visible in any case.
    ///
    /// - Parameter totalByteCount: the length of the whole representation; `nil` if it is unknown.
    /// - Returns: the stored entry.
    /// - Throws: an error if the response cannot be stored.
    public func finish(totalByteCount: Int?) async throws -> CacheEntry {
        let entry = try await finish(totalByteCount: totalByteCount, ifUnchangedSince: nil)
        guard let entry else { throw CacheStoreError(.ended, "the cache") }
        return entry
    }
}
