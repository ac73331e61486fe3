/// The share of the calls to a host that may be retried, which protects a server in trouble from a flood of retries.
///
/// A call adds to the budget of its host when its first attempt has ended, and a retry takes from it. Calls that share the exchange
/// of a ``DeduplicationPlugin`` count as one: only the call that leads adds to the budget, they pay once for their joint retry,
/// and if the budget refuses it, it refuses it to all of them. An attempt without an exchange, because a plugin responded, adds
/// nothing, and the retry that follows it is free. A cancelled attempt adds nothing. When the budget is used up, calls end in the
/// outcome of their attempt.
///
/// ```swift
/// RetryPlugin(budget: RetryBudget(ratio: 0.1, minimumPerSecond: 1))
/// RetryPlugin(budget: .unlimited)
/// ```
///
/// **Effects**: within a `window`, a share of `ratio` of these calls to a host may be retried, and in addition `minimumPerSecond` for
/// each of its seconds. The window moves in tenths of its length, by the date of the provider's clock; a date that is set back by more
/// than a window begins a new one. Of more than 1,000 hosts, the one with the oldest calls is forgotten.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `ratio` | 0.2 | retries per call | 0...1,000 |
/// | `minimumPerSecond` | 10 | retries per second | 0...1,000,000 |
/// | `window` | 10 s | | 1 s ... 1 h |
public struct RetryBudget: Sendable, Hashable {
    /// How many retries each call allows.
    let ratio: Double
    /// How many retries are allowed per second besides, for hosts that are called seldom.
    let minimumPerSecond: Double
    /// For how long a call, or a retry, counts.
    let window: Duration
    let isUnlimited: Bool

    /// As many retries as the policy wants.
    public static let unlimited = RetryBudget(
        ratio: 0,
        minimumPerSecond: 0,
        window: .seconds(10),
        isUnlimited: true
    )

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - ratio: how many retries each call allows, `0...1,000`.
    ///   - minimumPerSecond: how many retries are allowed per second besides, `0...1,000,000`.
    ///   - window: for how long a call counts, one second to one hour.
    public init(ratio: Double = 0.2, minimumPerSecond: Double = 10, window: Duration = .seconds(10)) {
        precondition((0...1_000).contains(ratio), "ratio is \(ratio), not in 0...1,000")
        precondition(
            (0...1_000_000).contains(minimumPerSecond),
            "minimumPerSecond is \(minimumPerSecond), not in 0...1,000,000"
        )
        precondition(
            (.seconds(1) ... .seconds(3_600)).contains(window),
            "window is \(window), not between a second and an hour"
        )
        self.init(ratio: ratio, minimumPerSecond: minimumPerSecond, window: window, isUnlimited: false)
    }

    private init(ratio: Double, minimumPerSecond: Double, window: Duration, isUnlimited: Bool) {
        self.ratio = ratio
        self.minimumPerSecond = minimumPerSecond
        self.window = window
        self.isUnlimited = isUnlimited
    }
}
