public import Foundation
public import PipelineCore
import Synchronization

/// The share of the calls to a host that may be retried, which protects a server in trouble from a flood of retries.
///
/// A call adds to the budget of its host when its first attempt has ended, and a retry deducts from it. When the budget
/// is used up, calls end with the outcome of their attempt.
///
/// Calls that share the exchange of a ``DeduplicationPlugin`` count as one: only the leading call adds to the budget,
/// their joint retry is deducted once, and the budget allows or refuses it for all of them. An attempt without an
/// exchange, because a plugin responded, adds nothing, and the retry after it is free. A cancelled attempt adds
/// nothing.
///
/// ```swift
/// RetryPlugin(budget: RetryBudget(ratio: 0.1, minimumPerSecond: 1))
/// RetryPlugin(budget: .unlimited)
/// ```
///
/// A budget is an object. Plugins that are given the same one share it, such as a ``RetryPlugin`` and a
/// `HedgingPlugin`, or those of several providers for the same server. A plugin that repeats requests asks it with
/// ``takeRetry(to:at:)`` before each repetition, and, if it sends the first request, reports that with
/// ``addCall(to:at:)``.
///
/// **Effects**: within a `window`, a share of `ratio` of the calls that count for a host may be retried, plus
/// `minimumPerSecond` for each second of the window. The window moves in tenths of its length, by the date of the
/// provider's clock. A date that is set back by more than a window begins a new one. The budget is kept for at most
/// 1,000 hosts; beyond that, the host with the oldest calls is dropped.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `ratio` | 0.2 | retries per call | 0...1,000 |
/// | `minimumPerSecond` | 10 | retries per second | 0...1,000,000 |
/// | `window` | 10 s | | 1 s ... 1 h |
public final class RetryBudget: Sendable {
    struct Settings: Sendable {
        /// The number of retries that each call allows.
        let ratio: Double
        /// The number of retries per second allowed in addition, for hosts that are rarely called.
        let minimumPerSecond: Double
        /// How long a call or a retry counts.
        let window: Duration
    }

    /// No limit: as many retries as the policy wants.
    public static let unlimited = RetryBudget(nil)

    /// `nil` without a limit.
    let settings: Settings?
    private let ledger: Mutex<RetryLedger>

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - ratio: the number of retries that each call allows, `0...1,000`.
    ///   - minimumPerSecond: the number of retries per second allowed in addition, `0...1,000,000`.
    ///   - window: how long a call counts, one second to one hour.
    public convenience init(ratio: Double = 0.2, minimumPerSecond: Double = 10, window: Duration = .seconds(10)) {
        precondition((0...1_000).contains(ratio), "ratio is \(ratio), not in 0...1,000")
        precondition(
            (0...1_000_000).contains(minimumPerSecond),
            "minimumPerSecond is \(minimumPerSecond), not in 0...1,000,000"
        )
        precondition(
            (.seconds(1) ... .seconds(3_600)).contains(window),
            "window is \(window), not between a second and an hour"
        )
        self.init(Settings(ratio: ratio, minimumPerSecond: minimumPerSecond, window: window))
    }

    private init(_ settings: Settings?) {
        self.settings = settings
        ledger = Mutex(RetryLedger(settings))
    }

    /// Adds the share of a call whose first attempt has ended.
    ///
    /// - Parameters:
    ///   - host: the host of the request, with its port.
    ///   - date: the date of the provider's clock.
    public func addCall(to host: String, at date: Date) { ledger.withLock { $0.addCall(to: host, at: date) } }

    /// Deducts a retry if the budget permits it.
    ///
    /// - Parameters:
    ///   - host: the host of the request, with its port.
    ///   - date: the date of the provider's clock.
    /// - Returns: whether the budget permits the retry.
    public func takeRetry(to host: String, at date: Date) -> Bool {
        ledger.withLock { $0.takeRetry(to: host, at: date) }
    }
}

/// A plugin that repeats requests and takes the repetitions from a budget.
///
/// Plugins of a stack that have different budgets are found when the provider is created.
public protocol RetryBudgetUsing: PluginType {
    /// The budget.
    var budget: RetryBudget { get }
}
