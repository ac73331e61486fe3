/// The importance of a call compared with other calls that wait for the same permits.
///
/// ```swift
/// try await provider.request(.report, options: .init { $0.priority = .low })
/// ```
///
/// Calls with a higher priority go first, but each lower priority with waiting calls gets at least one permit in ten.
public struct TrafficPriority: Sendable, Hashable, Comparable {
    /// The rank, from 0 for the lowest priority.
    let rank: Int

    /// The priority of work that can wait, such as prefetching.
    public static let low = TrafficPriority(rank: 0)
    /// The priority of calls that set none.
    public static let normal = TrafficPriority(rank: 1)
    /// The priority of calls that a user waits for.
    public static let high = TrafficPriority(rank: 2)

    /// The number of priorities.
    static let count = 3

    /// Returns whether the first priority is lower than the second.
    public static func < (lhs: TrafficPriority, rhs: TrafficPriority) -> Bool { lhs.rank < rhs.rank }
}
