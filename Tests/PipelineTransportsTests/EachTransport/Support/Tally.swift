import Synchronization

/// A count that several tasks add to.
final class Tally: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .acquiring) }

    func add(_ count: Int = 1) {
        value.add(count, ordering: .acquiringAndReleasing)
    }
}
