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

    /// The balances of the hosts, each in a place of its own.
    fileprivate struct State {
        var balances: [String: RetryBalance] = [:]
        var hosts: [String] = []
        /// The place from which the next host to leave is looked for.
        var hand = 0
    }

    /// `nil` without a limit.
    let settings: Settings?
    private let maximumHostCount: Int
    private let state = Mutex(State())

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

    init(_ settings: Settings?, maximumHostCount: Int = 1_000) {
        self.settings = settings
        self.maximumHostCount = maximumHostCount
    }

    /// The number of hosts with a balance.
    var hostCount: Int { state.withLock { $0.balances.count } }

    /// Adds the share of a call whose first attempt has ended.
    ///
    /// - Parameters:
    ///   - host: the host of the request, with its port.
    ///   - date: the date of the provider's clock.
    public func addCall(to host: String, at date: Date) { change(host, at: date) { $0.addCall(at: date) } }

    /// Deducts a retry if the budget permits it.
    ///
    /// - Parameters:
    ///   - host: the host of the request, with its port.
    ///   - date: the date of the provider's clock.
    /// - Returns: whether the budget permits the retry.
    public func takeRetry(to host: String, at date: Date) -> Bool {
        change(host, at: date) { $0.takeRetry(at: date) } ?? true
    }

    /// Changes the balance of a host; returns `nil` without a limit.
    private func change<Output>(_ host: String, at date: Date, _ body: (inout RetryBalance) -> Output) -> Output? {
        guard let settings else { return nil }
        return state.withLock { state in
            state.makeRoom(for: host, maximumHostCount)
            return body(&state.balances[host, default: RetryBalance(settings, at: date)])
        }
    }
}

extension RetryBudget.State {
    /// Makes room for a host, in constant time: of 16 hosts, the one that was used the longest time ago leaves, and one
    /// that has retries left before one that has none.
    fileprivate mutating func makeRoom(for host: String, _ maximumHostCount: Int) {
        guard balances[host] == nil else { return }
        guard hosts.count >= maximumHostCount else { return hosts.append(host) }
        let places = (0..<min(16, hosts.count)).map { (hand + $0) % hosts.count }
        hand = (hand + places.count) % hosts.count
        let oldest = places.min { age(at: $0) < age(at: $1) } ?? hand
        balances[hosts[oldest]] = nil
        hosts[oldest] = host
    }

    private func age(at place: Int) -> (Double, Int) {
        guard let balance = balances[hosts[place]] else { return (-.infinity, 0) }
        return (balance.slice, balance.isSpent ? 1 : 0)
    }
}

extension RetryBudget {
    /// A plugin that repeats requests and takes the repetitions from a budget.
    ///
    /// Plugins of a stack that have different budgets are found when the provider is created.
    public protocol Using: PluginType {
        /// The budget.
        var budget: RetryBudget { get }
    }
}
