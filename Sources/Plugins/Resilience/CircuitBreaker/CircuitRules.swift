/// The settings of a circuit.
struct CircuitRules: Sendable {
    /// Which outcomes count, by their number or by their age.
    enum Window: Sendable, Hashable {
        case count(Int)
        case time(Duration)
    }

    var failureRatio: Double
    var minimumCallCount: Int
    var window: Window
    var breakDuration: Duration
    /// What a break grows to while its probes fail; `nil` if all breaks are equally long.
    var maximumBreakDuration: Duration?
    var probeCount: Int
    var probeTimeout: Duration

    /// Returns whether so many failures among so many calls reach the ratio.
    func isReached(by failureCount: Int, of callCount: Int) -> Bool {
        // Divided, because the quotient of 3 and 10 is the literal 0.3, while products with 0.3 are rounded.
        Double(failureCount) / Double(callCount) >= failureRatio
    }
}
