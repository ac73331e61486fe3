import Foundation

/// The locks of keys, a bounded number of them.
struct MemoryCacheLocks {
    private static let maximumCount = 1_024

    private struct Lock {
        let token: UUID
        let expiry: Date
    }

    private var locks: [CacheKey: Lock] = [:]

    var count: Int { locks.count }

    /// Takes a lock; returns `nil` if another caller has it at `now`.
    mutating func lock(_ key: CacheKey, for duration: Duration, at now: Date) -> UUID? {
        if let lock = locks[key], lock.expiry > now { return nil }
        if locks[key] == nil, locks.count >= Self.maximumCount,
            let first = locks.min(by: { $0.value.expiry < $1.value.expiry })
        {
            locks[first.key] = nil
        }
        let lock = Lock(token: UUID(), expiry: now + duration / .seconds(1))
        locks[key] = lock
        return lock.token
    }

    mutating func unlock(_ key: CacheKey, _ token: UUID) {
        if locks[key]?.token == token { locks[key] = nil }
    }
}
