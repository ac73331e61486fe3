/// What answers a request when each entry that matches it has been used.
public struct SequenceEnd: Sendable, Hashable {
    enum Kind {
        case fail
        case repeatLast
        case cycle
    }

    let kind: Kind

    /// Nothing: the request fails.
    public static let fail = SequenceEnd(kind: .fail)
    /// The last of them, again and again.
    public static let repeatLast = SequenceEnd(kind: .repeatLast)
    /// The first of them, and so on.
    public static let cycle = SequenceEnd(kind: .cycle)
}
