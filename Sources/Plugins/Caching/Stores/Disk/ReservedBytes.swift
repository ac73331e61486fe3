#if SQLite || canImport(Darwin)
import Synchronization

/// The bytes that unfinished bodies of a store have, or may have next, in files.
final class ReservedBytes: Sendable {
    private let bytes = Mutex(0)

    var count: Int { bytes.withLock(\.self) }

    /// Adds bytes; returns `false` if there would be more than `maximum`.
    func add(_ count: Int, upTo maximum: Int) -> Bool {
        bytes.withLock { bytes in
            guard count <= maximum - bytes else { return false }
            bytes += count
            return true
        }
    }

    func release(_ count: Int) { bytes.withLock { $0 -= count } }
}
#endif
