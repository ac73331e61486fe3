import Synchronization

/// A counter that any task can use.
final class Tally: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    @discardableResult
    func add() -> Int { count.add(1, ordering: .relaxed).newValue }
}
