import Foundation

/// A response of a ``MemoryCacheContent``, and its places in the lists of the content.
final class MemoryCacheResponse {
    private(set) var entry: CacheEntry
    let body: Data
    /// The number of bytes that count against the bound.
    private(set) var byteCount: Int
    /// Whether the response was used since it was stored or went back on probation.
    var isProtected = false
    /// The place in the queue of protected responses, or of those on probation.
    let queueLink = MemoryCacheLink()
    /// The place among the responses of the resource.
    let resourceLink = MemoryCacheLink()
    /// The place among the responses of the account.
    let accountLink = MemoryCacheLink()

    init(_ entry: CacheEntry, _ body: Data) {
        self.entry = entry
        self.body = body
        byteCount = MemoryCacheFootprint.byteCount(of: entry) + MemoryCacheFootprint.byteCount(of: body)
        for link in [queueLink, resourceLink, accountLink] { link.response = self }
    }

    /// Replaces the entry, except for what describes the body.
    func update(_ entry: CacheEntry) {
        let stored = self.entry.byteCount
        self.entry = entry
        self.entry.byteCount = stored
        byteCount = MemoryCacheFootprint.byteCount(of: entry) + MemoryCacheFootprint.byteCount(of: body)
    }
}
