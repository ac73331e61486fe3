import Foundation
import HTTPTypes

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
