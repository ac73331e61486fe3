/// How long a replay takes, on the provider's clock.
public struct ReplayPace: Sendable, Hashable {
    let factor: Double

    /// No time; plugins do not wait for the server either, as `context.isReplayed` tells them.
    public static let immediate = ReplayPace(factor: 0)
    /// The time that the recorded exchange has taken, piece by piece.
    public static let recorded = ReplayPace(factor: 1)

    /// So many times as long as recorded: 0.5 is twice as fast.
    ///
    /// - Parameter factor: 0 and up, finite.
    /// - Returns: a pace.
    public static func scaled(_ factor: Double) -> ReplayPace {
        precondition(factor >= 0 && factor.isFinite, "factor is \(factor), not 0 or more")
        return ReplayPace(factor: factor)
    }

    func duration(_ recorded: Duration) -> Duration { factor == 1 ? recorded : recorded * factor }
}
