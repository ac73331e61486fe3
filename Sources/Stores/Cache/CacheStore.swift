public import Foundation

/// A place that keeps responses.
///
/// A store is bounded in bytes and removes the entries that were not used for the longest time. It does not know what
/// the responses mean; the plugin decides what is stored, reused and removed. A store may lose entries at any time, but
/// it never returns the bytes of another entry, or fewer than an entry says.
///
/// Run `CacheStoreConformance` of `PipelineTesting` against your own.
public protocol CacheStore: Sendable {
    /// Whether methods return without waiting, so that callers need no time limit; defaults to `false`.
    var returnsAtOnce: Bool { get }

    /// Returns 32 random bytes, the same for all who share the store and for as long as its content lives.
    ///
    /// Plugins ask again after a minute.
    func secret() async throws -> Data

    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first; empty if there are none.
    ///
    /// Entries that are being written are not included.
    func entries(for key: CacheKey) async throws -> [CacheEntry]

    /// Opens the body of an entry; returns `nil` if the store does not have the entry any more.
    ///
    /// The reader stays valid if the entry is removed.
    func body(of entry: CacheEntry) async throws -> (any CacheBodyReader)?

    /// Begins to store a response; returns `nil` if the store has no room for it.
    ///
    /// Nothing is visible to others until ``CacheBodyWriter/finish(totalByteCount:)``. Any number of writers may exist
    /// at the same time, also for one key.
    ///
    /// - Parameters:
    ///   - entry: the response; its `byteCount` and `totalByteCount` are ignored.
    ///   - byteCount: the number of bytes that are expected; `nil` if it is unknown.
    /// - Returns: the writer.
    /// - Throws: an error if the store fails.
    func write(_ entry: CacheEntry, byteCount: Int?) async throws -> (any CacheBodyWriter)?

    /// Replaces what a store keeps about an entry, except for its body and its key; does nothing if the entry is gone.
    ///
    /// If the variant has changed to that of another entry of the key, that entry is removed.
    func update(_ entry: CacheEntry) async throws

    /// Removes one entry.
    func remove(_ entry: CacheEntry) async throws

    /// Removes the responses of a resource, of all accounts.
    func remove(resource: String) async throws

    /// Removes the responses of an account; those of all accounts if it is `nil`.
    func remove(account: String?) async throws

    /// Takes the lock of a key, for the one who revalidates its response.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - duration: how long the lock is held unless it is released, more than zero.
    ///   - now: the current date. A store that several machines share uses its own clock.
    /// - Returns: a token; `nil` if another has the lock.
    /// - Throws: an error if the store fails.
    func lock(_ key: CacheKey, for duration: Duration, at now: Date) async throws -> UUID?

    /// Releases the lock of a key; does nothing if its token is another one.
    func unlock(_ key: CacheKey, _ token: UUID) async throws
}

extension CacheStore {
    /// The default: methods may wait.
    public var returnsAtOnce: Bool { false }
}

/// An open body of a stored response.
public protocol CacheBodyReader: Sendable {
    /// The whole body if it is in memory; `nil` if it has to be read in pieces.
    var bytes: Data? { get }

    /// Returns bytes of the body.
    ///
    /// - Parameters:
    ///   - offset: where to begin, counted from the first stored byte.
    ///   - count: how many bytes to return at most, 1 and up.
    /// - Returns: at least one byte; empty at the end of the body.
    /// - Throws: an error if the bytes cannot be read; a body that is shorter than its entry says is an error, too.
    func read(at offset: Int, upTo count: Int) async throws -> Data
}

/// The body of a response that is being stored; the plugin calls its methods one after another.
///
/// A writer that is released before `finish` discards what it has written.
public protocol CacheBodyWriter: Sendable {
    /// Appends bytes.
    ///
    /// - Throws: an error if the bytes cannot be stored, or exceed the largest body of the store. The writer has then
    ///   discarded everything.
    func append(_ bytes: Data) async throws

    /// Makes the entry visible, in place of a former entry with the same key and variant.
    ///
    /// If the key has more than 16 variants, the one with the earliest `responseDate` is removed.
    ///
    /// - Parameter totalByteCount: the length of the whole representation; `nil` if it is unknown.
    /// - Returns: the entry as it is stored.
    /// - Throws: an error if the response cannot be stored.
    func finish(totalByteCount: Int?) async throws -> CacheEntry

    /// Discards what has been written.
    func discard() async
}
