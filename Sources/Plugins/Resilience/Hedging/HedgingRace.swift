/// The copies of a request, and which of their results is that of the call.
///
/// The first usable response wins. If no copy brings one, a response that is not usable is better than a failure. Among
/// equals, the result of the copy that was sent first counts.
struct HedgingRace: Sendable {
    /// How a copy has ended.
    enum Ending: Sendable, Hashable {
        case usable
        case unusable
        case failure
    }

    /// The number of copies that may be sent, including the first.
    let maximumCopyCount: Int
    private var endings: [Ending?] = []

    init(maximumCopyCount: Int) {
        self.maximumCopyCount = maximumCopyCount
    }

    /// The number of copies that have been sent.
    var copyCount: Int { endings.count }

    /// Whether another copy may be sent.
    var maySend: Bool { endings.count < maximumCopyCount }

    /// Records that a copy is sent.
    ///
    /// - Returns: the number of the copy, from 0.
    mutating func send() -> Int {
        endings.append(nil)
        return endings.count - 1
    }

    /// Records how a copy has ended.
    ///
    /// - Returns: the copy whose result is that of the call; `nil` while another copy in flight may bring a better one.
    mutating func end(_ copy: Int, _ ending: Ending) -> Int? {
        endings[copy] = ending
        if ending == .usable { return copy }
        guard !endings.contains(nil) else { return nil }
        return endings.firstIndex(of: .unusable) ?? 0
    }
}
