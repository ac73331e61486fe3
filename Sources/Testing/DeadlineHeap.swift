/// The deadlines of sleepers, with the earliest first.
///
/// A sleeper that was cancelled remains until its deadline is the earliest, or until more than half have been
/// cancelled.
struct DeadlineHeap {
    struct Entry {
        let deadline: ManualClock.Instant
        let id: Int

        static func < (one: Entry, other: Entry) -> Bool {
            one.deadline == other.deadline ? one.id < other.id : one.deadline < other.deadline
        }
    }

    private var entries: [Entry] = []

    var count: Int { entries.count }
    var first: Entry? { entries.first }

    mutating func insert(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0, entries[child] < entries[(child - 1) / 2] {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && entries[child] < entries[least]
            {
                least = child
            }
            guard least != parent else { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }

    /// Removes the entries that do not fulfill a condition.
    mutating func compact(_ isKept: (Entry) -> Bool) {
        // An array in order is a heap.
        entries = entries.filter(isKept).sorted(by: <)
    }
}
