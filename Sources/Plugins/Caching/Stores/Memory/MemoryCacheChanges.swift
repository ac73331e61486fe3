import Foundation

/// The latest removals, so that no response is stored whose request began before one.
///
/// Bounded: beyond 1,000 resources and accounts, no response to an earlier request is stored.
struct MemoryCacheChanges {
    private enum Scope: Hashable {
        case resource(String)
        case account(String)
    }

    private static let maximumCount = 1_000

    private var count = 0
    private var floor = 0
    private var latest: [Scope: Int] = [:]

    /// The number of removals so far, as bytes.
    var generation: Data { withUnsafeBytes(of: count) { Data($0) } }

    mutating func add(resource: String) { add(.resource(resource)) }

    /// Records that the responses of an account were removed, or those of all accounts if it is `nil`.
    mutating func add(account: String?) {
        guard let account else {
            count += 1
            latest = [:]
            floor = count
            return
        }
        add(.account(account))
    }

    private mutating func add(_ scope: Scope) {
        if latest.count >= Self.maximumCount { add(account: nil) } else { count += 1 }
        latest[scope] = count
    }

    /// Returns whether a key was affected by a removal since a generation.
    func affect(_ key: CacheKey, since generation: Data) -> Bool {
        guard generation.count == MemoryLayout<Int>.size else { return true }
        let start = generation.withUnsafeBytes { $0.loadUnaligned(as: Int.self) }
        let changes = [latest[.resource(key.resource)], latest[.account(key.account)]]
        return start < floor || changes.contains { $0 ?? 0 > start }
    }
}
