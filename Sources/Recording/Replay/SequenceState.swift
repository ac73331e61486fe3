/// The entries that have been used.
///
/// Each is used once; entries that are alike are used in order.
struct SequenceState {
    enum Answer: Equatable {
        case entry(Int)
        case usedUp
    }

    private var isFree: [Bool]
    private var wasUsed: [Bool]
    /// For the first entry of each group of alike entries: how many of the group are certainly in use.
    private var starts: [Int: Int] = [:]

    init(count: Int) {
        isFree = Array(repeating: true, count: count)
        wasUsed = Array(repeating: false, count: count)
    }

    /// Takes the next entry for a request.
    ///
    /// - Parameters:
    ///   - candidates: the entries in order, at least one. Lists with the same first entry must be equal.
    ///   - end: what happens when all are in use.
    /// - Returns: the entry.
    mutating func take(_ candidates: [Int], atEnd end: ReplayEnd) -> Answer {
        let first = candidates[0]
        var place = starts[first] ?? 0
        while place < candidates.count, !isFree[candidates[place]] { place += 1 }
        if place == candidates.count {
            switch end {
            case .fail: return .usedUp
            case .repeatLast: return .entry(candidates[candidates.count - 1])
            case .cycle:
                for entry in candidates { isFree[entry] = true }
                place = 0
            }
        }
        isFree[candidates[place]] = false
        wasUsed[candidates[place]] = true
        starts[first] = place + 1
        return .entry(candidates[place])
    }

    /// Takes the next of the entries that a closure has chosen from those that are alike.
    ///
    /// The choice may differ in each call.
    mutating func takeChosen(_ candidates: [Int], atEnd end: ReplayEnd) -> Answer {
        starts[candidates[0]] = nil
        defer { starts[candidates[0]] = nil }
        return take(candidates, atEnd: end)
    }

    var unused: [Int] { wasUsed.indices.filter { !wasUsed[$0] } }

    func isUsed(_ entry: Int) -> Bool { wasUsed[entry] }
}
