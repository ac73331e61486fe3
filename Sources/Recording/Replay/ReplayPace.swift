/// The time that a replayed exchange takes, on the provider's clock.
public struct ReplayPace: Sendable, Hashable {
    let factor: Double

    /// Exchanges take no time.
    ///
    /// Responses are marked as `context.isReplayed`, so that plugins do not wait for the server.
    public static let immediate = ReplayPace(factor: 0)
    /// Exchanges take the recorded time, chunk by chunk.
    public static let recorded = ReplayPace(factor: 1)

    /// Exchanges take a multiple of the recorded time.
    ///
    /// With 0.5, they are twice as fast.
    ///
    /// - Parameter factor: a finite number, 0 or more.
    /// - Returns: the pace.
    public static func scaled(_ factor: Double) -> ReplayPace {
        precondition(factor >= 0 && factor.isFinite, "factor is \(factor), not 0 or more")
        return ReplayPace(factor: factor)
    }

    func duration(_ recorded: Duration) -> Duration { factor == 1 ? recorded : recorded * factor }
}
