/// The entries that have been used.
///
/// Each is used once; entries that are alike are used in order.
struct SequenceState {
    private var isFree: [Bool]
    private var wasUsed: [Bool]

    init(count: Int) {
        isFree = Array(repeating: true, count: count)
        wasUsed = Array(repeating: false, count: count)
    }

    /// Takes the next entry for a request.
    ///
    /// - Parameters:
    ///   - candidates: the entries in order, at least one.
    ///   - end: what happens when all are in use.
    /// - Returns: the entry; `nil` if all have been used.
    mutating func take(_ candidates: [Int], atEnd end: ReplayEnd) -> Int? {
        var next = candidates.first { isFree[$0] }
        if next == nil {
            switch end {
            case .fail: return nil
            case .repeatLast: return candidates.last
            case .cycle:
                for entry in candidates { isFree[entry] = true }
                next = candidates.first
            }
        }
        guard let next else { return nil }
        isFree[next] = false
        wasUsed[next] = true
        return next
    }

    var unused: [Int] { wasUsed.indices.filter { !wasUsed[$0] } }

    func isUsed(_ entry: Int) -> Bool { wasUsed[entry] }
}
