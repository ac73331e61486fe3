/// How many of the calls to a host may be retried, so that a server in trouble is not buried in repeated requests.
///
/// A call adds to the budget of its host, a retry takes from it, unless the attempt before sent nothing to the host itself: its
/// answer was joined, or given by a plugin. When it is used up, calls get the outcome of their attempt without another.
///
/// ```swift
/// RetryPlugin(budget: RetryBudget(ratio: 0.1, minimumPerSecond: 1))
/// RetryPlugin(budget: .unlimited)
/// ```
///
/// **Effects**: of the calls to a host within a `window`, the share `ratio` may be retried, and `minimumPerSecond` for each of its
/// seconds besides. The window moves on in tenths of its length, by the date of the provider's clock; a date that was set back
/// by more than a window begins a new one. Of more than 1,000 hosts the one whose calls lie back longest is forgotten.
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
    public let ratio: Double
    /// How many retries are allowed per second besides, for hosts that are called seldom.
    public let minimumPerSecond: Double
    /// For how long a call, or a retry, counts.
    public let window: Duration
    let isUnlimited: Bool

    /// A retry for each five calls, and ten per second, over ten seconds.
    public static let standard = RetryBudget()

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
