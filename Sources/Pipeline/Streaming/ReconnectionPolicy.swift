/// When a subscription to events connects again, and after how long.
///
/// ```swift
/// provider.serverSentEvents(.news, reconnection: .never)
/// provider.serverSentEvents(.news, reconnection: ReconnectionPolicy(maximumFailedAttempts: nil))
/// ```
///
/// After a stream that had begun the wait is the reconnection time: what the server has said with `retry` (of which at most 6 h
/// are waited), else ``reconnectionTime``. When nothing came of the attempt, not a byte, it is at least 1 s. After attempts that
/// failed a part left to chance is added, so that all who lost a server do not come back together: after n failures the whole wait is
/// between the reconnection time and 2ⁿ times that, but no more than ``maximumReconnectionTime`` unless the server asks for more.
///
/// An attempt fails when it brings no answer to read events from. A stream that begins ends the count.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `reconnectionTime` | 3 s | time | zero and up |
/// | `maximumReconnectionTime` | 60 s | time | zero and up |
/// | `maximumFailedAttempts` | 10 | attempts in a row, the first counts | 1 and up, `nil` for no end |
/// | `shouldReconnect` | ``isNetworkFailure(_:)`` | | |
///
/// Source: HTML, 9.2.3 Processing model, https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model
public struct ReconnectionPolicy: Sendable {
    /// The wait when the server has said nothing.
    public var reconnectionTime: Duration
    /// How far the wait grows.
    public var maximumReconnectionTime: Duration
    /// How many attempts in a row may fail.
    public var maximumFailedAttempts: Int?
    /// Whether to connect again after a failure.
    public var shouldReconnect: @Sendable (PipelineError) -> Bool

    private(set) var isEnabled = true

    /// Connects again after the end of a stream and after failures of the network.
    public static let standard = ReconnectionPolicy()

    /// Never connects again: the events end with the stream.
    public static let never: ReconnectionPolicy = {
        var policy = ReconnectionPolicy()
        policy.isEnabled = false
        return policy
    }()

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - reconnectionTime: the wait when the server has said nothing.
    ///   - maximumReconnectionTime: how far the wait grows.
    ///   - maximumFailedAttempts: how many attempts in a row may fail, `nil` for no end.
    ///   - shouldReconnect: whether to connect again after a failure; also asked after a status that is not 200.
    public init(
        reconnectionTime: Duration = .seconds(3),
        maximumReconnectionTime: Duration = .seconds(60),
        maximumFailedAttempts: Int? = 10,
        shouldReconnect: @escaping @Sendable (PipelineError) -> Bool = isNetworkFailure
    ) {
        precondition(reconnectionTime >= .zero, "reconnectionTime is \(reconnectionTime), not zero or more")
        precondition(
            maximumReconnectionTime >= .zero,
            "maximumReconnectionTime is \(maximumReconnectionTime), not zero or more"
        )
        if let maximumFailedAttempts {
            precondition(maximumFailedAttempts > 0, "maximumFailedAttempts is \(maximumFailedAttempts), not 1 or more")
        }
        self.reconnectionTime = reconnectionTime
        self.maximumReconnectionTime = maximumReconnectionTime
        self.maximumFailedAttempts = maximumFailedAttempts
        self.shouldReconnect = shouldReconnect
    }

    /// Whether the network failed, and not the server or the request: `offline`, `dns`, `connect`, `connectionLost`, `timeout`,
    /// `truncated`, `contentCoding.truncated`, `transport`.
    public static func isNetworkFailure(_ error: PipelineError) -> Bool {
        switch error.code {
        case .offline, .dns, .connect, .connectionLost, .timeout, .truncated, .contentCoding(.truncated), .transport:
            true
        default: false
        }
    }

    /// The wait before the next attempt.
    ///
    /// - Parameters:
    ///   - failedAttempts: how many attempts in a row have failed.
    ///   - isEmpty: whether nothing came of the last attempt.
    ///   - asked: what the server has said.
    ///   - random: the source of chance.
    /// - Returns: the wait.
    func delay(
        afterFailedAttempts failedAttempts: Int,
        isEmpty: Bool,
        asked: Duration?,
        using random: inout PipelineRandom
    ) -> Duration {
        var base = min(asked ?? reconnectionTime, .seconds(6 * 3_600))
        if isEmpty { base = max(base, .seconds(1)) }
        guard failedAttempts > 0 else { return base }
        // 2¹⁵ times a second is more than any bound that is not the server's own.
        let bound = min(base * (1 << min(failedAttempts, 15)), max(maximumReconnectionTime, base))
        return base + (bound - base) * Double.random(in: 0...1, using: &random)
    }
}
