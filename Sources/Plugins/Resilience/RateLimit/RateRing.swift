/// A queue of moments with costs.
///
/// Moments are nanoseconds and never decrease. Entries are numbered from 0 in the order in which they were added.
struct RateRing: Sendable {
    struct Entry: Sendable {
        var time: Int64
        var cost: Int
    }

    private var entries: [Entry] = []
    private var head = 0
    private(set) var count = 0
    private var firstNumber = 0
    /// The sum of all costs.
    private(set) var cost = 0

    var first: Entry? { count == 0 ? nil : entries[head] }

    /// Adds a cost at a moment, to the last entry if that is not earlier; returns the number of the entry.
    @discardableResult
    mutating func append(_ cost: Int, at time: Int64) -> Int {
        self.cost += cost
        if count > 0, entries[index(count - 1)].time >= time {
            entries[index(count - 1)].cost += cost
        } else {
            if count == entries.count { grow() }
            entries[index(count)] = Entry(time: time, cost: cost)
            count += 1
        }
        return firstNumber + count - 1
    }

    mutating func removeFirst() {
        cost -= entries[head].cost
        head = index(1)
        count -= 1
        firstNumber += 1
    }

    /// Takes a cost out of an entry; returns `false` if the entry has been removed.
    mutating func remove(_ cost: Int, from number: Int) -> Bool {
        guard (firstNumber..<firstNumber + count).contains(number) else { return false }
        entries[index(number - firstNumber)].cost -= cost
        self.cost -= cost
        return true
    }

    /// Returns the moment of the entry up to which the costs add up to the given one; `nil` if all do not.
    func moment(whenReleased cost: Int) -> Int64? {
        var rest = cost
        for offset in 0..<count {
            rest -= entries[index(offset)].cost
            if rest <= 0 { return entries[index(offset)].time }
        }
        return nil
    }

    private func index(_ offset: Int) -> Int {
        let index = head + offset
        return index < entries.count ? index : index - entries.count
    }

    private mutating func grow() {
        entries = Array(entries[head...] + entries[..<head])
        entries += Array(repeating: Entry(time: 0, cost: 0), count: max(8, count))
        head = 0
    }
}
