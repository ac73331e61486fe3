public import Foundation
public import PipelineCore
import Synchronization

/// A store that keeps responses in memory, as long as the store exists.
///
/// **Effects**: bodies, header fields and bookkeeping together use about `maximumByteCount` of memory at most; bodies
/// that are being written are included, and use up to half of it. When the store is full, it removes entries that were
/// never used since they were stored, the oldest first. After those, it removes the entries that were not used for the
/// longest time. An entry is used when its body is opened and when it is updated. Used entries keep up to 80 % of the
/// store, even if many others are stored, one after another, and never used.
///
/// A lookup takes the same time for any number of entries. Removing a resource or an account takes time in proportion
/// to the entries that are removed. Up to 1,024 locks are kept; one more replaces the lock that expires first. The
/// removals of up to 1,000 resources and accounts are kept, in about 150 KB beyond `maximumByteCount`; after one more,
/// no response is stored whose request began before it.
///
/// Each body is copied once, so that the store does not keep buffers that are larger than a body. Readers share the
/// bytes of the store.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `maximumByteCount` | 64 MiB | bytes | 1 and up |
/// | `maximumBodyByteCount` | an eighth of `maximumByteCount` | bytes | 0 to a third of `maximumByteCount` |
///
/// **Errors**: ``CacheStoreError``, only from writers: ``CacheStoreError/Code/tooLarge`` if a body exceeds
/// `maximumBodyByteCount`, ``CacheStoreError/Code/full`` if the bodies that are being written exceed half of the store,
/// and ``CacheStoreError/Code/ended``.
///
/// **Secrets**: responses are kept as plain text. Descriptions show only counts.
public final class MemoryCacheStore: CacheStore {
    let content: Mutex<MemoryCacheContent>
    private let secretBytes = Data.random(32)
    private let maximumByteCount: Int
    let maximumBodyByteCount: Int

    /// Creates a store without responses.
    ///
    /// - Parameters:
    ///   - maximumByteCount: how many bytes of memory the store uses at most, 1 and up; 64 MiB by default.
    ///   - maximumBodyByteCount: how many bytes a body has at most; an eighth of `maximumByteCount` by default, and
    ///     never more than a third of it.
    public init(maximumByteCount: Int = 67_108_864, maximumBodyByteCount: Int? = nil) {
        precondition(maximumByteCount > 0, "maximumByteCount is \(maximumByteCount), but must be 1 or more")
        let largest = maximumBodyByteCount ?? maximumByteCount / 8
        precondition(largest >= 0, "maximumBodyByteCount is \(largest), but must be 0 or more")
        self.maximumByteCount = maximumByteCount
        self.maximumBodyByteCount = min(largest, maximumByteCount / 3)
        content = Mutex(MemoryCacheContent(maximumByteCount: maximumByteCount))
    }

    /// Always `true`: no method waits.
    public var returnsAtOnce: Bool { true }

    /// The number of stored responses.
    var entryCount: Int { content.withLock { $0.count } }
    /// The number of bytes that count against the bound, with those of bodies that are being written.
    var byteCount: Int { content.withLock { $0.byteCount } }

    /// Returns 32 random bytes, the same ones as long as the store exists.
    public func secret() async -> Data { secretBytes }

    /// Returns the variants of a key, the latest first, and the number of removals so far.
    public func lookUp(_ key: CacheKey) async -> (entries: [CacheEntry], generation: Data?) {
        content.withLock { ($0.entries(for: key), $0.generation) }
    }

    /// Returns the body of an entry, whose `bytes` are the whole body; `nil` if the entry is gone.
    public func body(of entry: CacheEntry) async -> (any CacheBodyReader)? {
        content.withLock { $0.use(entry) }.map(CacheBytes.init)
    }

    /// Begins to store a response; returns `nil` if the body would be too large, or if other bodies that are being
    /// written use half of the store.
    public func write(_ entry: CacheEntry, byteCount: Int?) async -> (any CacheBodyWriter)? {
        let overhead = MemoryCacheFootprint.byteCount(of: entry)
        guard byteCount ?? 0 <= maximumBodyByteCount,
            content.withLock({ $0.reserve(overhead, expecting: byteCount ?? 0) })
        else { return nil }
        return MemoryCacheWriter(entry, reserved: overhead, store: self)
    }

    /// Replaces what the store keeps about an entry, except for its body and its key; does nothing if it is gone.
    public func update(_ entry: CacheEntry) async {
        content.withLock { $0.update(entry) }
    }

    /// Removes one entry; does nothing if it is gone.
    public func remove(_ entry: CacheEntry) async {
        content.withLock { $0.remove(entry) }
    }

    /// Removes the responses of a resource, of all accounts.
    public func remove(resource: String) async {
        content.withLock { $0.remove(resource: resource) }
    }

    /// Removes the responses of an account; those of all accounts if it is `nil`.
    public func remove(account: String?) async {
        content.withLock { $0.remove(account: account) }
    }

    /// Takes the lock of a key; returns its token, or `nil` if another caller has the lock at `now`.
    public func lock(_ key: CacheKey, for duration: Duration, at now: Date) async -> UUID? {
        content.withLock { $0.locks.lock(key, for: duration, at: now) }
    }

    /// Releases the lock of a key; does nothing if its token is another one.
    public func unlock(_ key: CacheKey, _ token: UUID) async {
        content.withLock { $0.locks.unlock(key, token) }
    }
}

extension MemoryCacheStore: SafelyDescribed {
    /// The number of entries, and the used and the available bytes.
    public var description: String {
        let (count, used) = content.withLock { ($0.count, $0.byteCount) }
        return "\(count) responses in memory, \(used) of \(maximumByteCount) bytes"
    }
}
