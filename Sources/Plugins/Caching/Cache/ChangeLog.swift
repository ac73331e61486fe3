/// The latest changes, so that no response is stored after a change whose request began before it.
///
/// Bounded: beyond 1,000 scopes, such as resources, all of them count as changed.
struct ChangeLog<Scope: Hashable> {
    private static var maximumCount: Int { 1_000 }

    /// The number of changes so far.
    private(set) var count = 0
    private var floor = 0
    private var latest: [Scope: Int] = [:]

    /// Records that a scope has changed.
    mutating func add(_ scope: Scope) {
        if latest.count >= Self.maximumCount { addAll() } else { count += 1 }
        latest[scope] = count
    }

    /// Records that all scopes have changed.
    mutating func addAll() {
        count += 1
        latest = [:]
        floor = count
    }

    /// Returns whether a scope has not changed since there were that many changes.
    func isCurrent(_ scope: Scope, since count: Int) -> Bool {
        count >= floor && (latest[scope] ?? 0) <= count
    }
}
