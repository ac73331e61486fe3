import Synchronization

/// Counts.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Adds one and returns the sum.
    @discardableResult
    func add() -> Int { count.add(1, ordering: .relaxed).newValue }
}
