import Foundation
import HTTPTypes

/// A response of a ``MemoryCacheContent``, and its places in the lists of the content.
final class MemoryCacheResponse {
    private(set) var entry: CacheEntry
    let body: Data
    /// The number of bytes that count against the bound.
    private(set) var byteCount = 0
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
        update(entry)
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

/// A place of a response in a ring of links; one link of a ring, its head, has no response.
///
/// Links do not own each other, so that a long ring is not freed recursively. A response is unlinked before it is
/// released, and a head is released only if its ring is empty, or if all rings are released with their content.
final class MemoryCacheLink {
    unowned(unsafe) var response: MemoryCacheResponse?
    private unowned(unsafe) var next: MemoryCacheLink?
    private unowned(unsafe) var previous: MemoryCacheLink?

    init() {
        next = self
        previous = self
    }

    /// Whether the ring of a head has no other link.
    var isEmpty: Bool { next === self }

    /// The response that was inserted first, if this is the head; `nil` if the ring is empty.
    var oldest: MemoryCacheResponse? { previous?.response }

    /// Inserts a link after this one, which is the head.
    func insert(_ link: MemoryCacheLink) {
        link.next = next
        link.previous = self
        next?.previous = link
        next = link
    }

    /// Removes this link from its ring.
    func unlink() {
        next?.previous = previous
        previous?.next = next
        next = self
        previous = self
    }
}

/// Responses in the order of their last use.
struct MemoryCacheQueue {
    private let head = MemoryCacheLink()
    private(set) var count = 0
    /// The number of bytes of all responses.
    var byteCount = 0

    /// The response that was not used for the longest time.
    var oldest: MemoryCacheResponse? { head.oldest }

    mutating func insert(_ response: MemoryCacheResponse) {
        head.insert(response.queueLink)
        count += 1
        byteCount += response.byteCount
    }

    mutating func remove(_ response: MemoryCacheResponse) {
        response.queueLink.unlink()
        count -= 1
        byteCount -= response.byteCount
    }

    func moveToFront(_ response: MemoryCacheResponse) {
        response.queueLink.unlink()
        head.insert(response.queueLink)
    }
}

/// How many bytes of memory the parts of a response use.
///
/// The estimates follow the layout of Swift objects on 64-bit platforms: a header of 16 bytes, of 32 bytes for strings
/// and arrays, and blocks in steps of 16 bytes.
enum MemoryCacheFootprint {
    /// What a response needs besides texts and bytes.
    private static let objects =
        block(32 + MemoryLayout<CacheEntry>.stride + MemoryLayout<Data>.stride + 4 * 8)
        // Three links and the heads of the rings, and the array of variants.
        + 5 * block(16 + 3 * 8) + block(32 + 8)

    /// The bytes of an entry and of the objects that keep it.
    static func byteCount(of entry: CacheEntry) -> Int {
        let texts = [entry.key.resource, entry.key.account, entry.key.content, entry.variant]
        let fields = entry.headers.reduce(block(32)) { sum, field in
            let value = field.withUnsafeBytesOfValue { $0.count }
            return sum + MemoryLayout<HTTPField>.stride + 2 * text(field.name.rawName.utf8.count) + text(value)
        }
        return texts.reduce(objects + fields) { $0 + text($1.utf8.count) }
    }

    /// The bytes of a body and of the object that keeps them.
    static func byteCount(of body: Data) -> Int {
        body.count <= 14 ? 0 : block(16 + 6 * 8) + block(body.count)
    }

    /// The bytes of a string that a short one needs in addition to its own 16.
    private static func text(_ count: Int) -> Int { count <= 15 ? 0 : block(33 + count) }

    /// The bytes of a block of memory, with those that the allocator needs.
    private static func block(_ count: Int) -> Int { (count + 8 + 15) / 16 * 16 }
}
