/// A queue of moments with costs.
///
/// Moments are nanoseconds and never decrease. Entries are numbered from 0 in the order in which they were added.
struct RateQueue: Sendable {
    struct Entry: Sendable {
        let time: Int64
        var cost: Int
    }

    /// The entries, of which those before `head` have been removed.
    private var entries: [Entry] = []
    private var head = 0
    /// The number of the first of them.
    private var firstNumber = 0
    /// The sum of all costs.
    private(set) var cost = 0

    var first: Entry? { head < entries.count ? entries[head] : nil }

    /// Adds a cost at a moment, to the last entry if that is not earlier; returns the number of the entry.
    @discardableResult
    mutating func append(_ cost: Int, at time: Int64) -> Int {
        self.cost += cost
        if first != nil, let last = entries.indices.last, entries[last].time >= time {
            entries[last].cost += cost
        } else {
            entries.append(Entry(time: time, cost: cost))
        }
        return firstNumber + entries.count - 1
    }

    mutating func removeFirst() {
        cost -= entries[head].cost
        head += 1
        guard head > 8, 2 * head >= entries.count else { return }
        entries.removeFirst(head)
        firstNumber += head
        head = 0
    }

    /// Takes a cost out of an entry; returns `false` if the entry has been removed.
    mutating func remove(_ cost: Int, from number: Int) -> Bool {
        let index = number - firstNumber
        guard (head..<entries.count).contains(index) else { return false }
        entries[index].cost -= cost
        self.cost -= cost
        return true
    }

    /// Returns the moment of the entry up to which the costs add up to the given one; `nil` if all do not.
    func moment(whenReleased cost: Int) -> Int64? {
        var rest = cost
        for entry in entries[head...] {
            rest -= entry.cost
            if rest <= 0 { return entry.time }
        }
        return nil
    }
}
