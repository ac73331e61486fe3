/// A policy that decides when a subscription to events reconnects, and after how long.
///
/// ```swift
/// provider.serverSentEvents(.news, reconnection: .never)
/// provider.serverSentEvents(.news, reconnection: ReconnectionPolicy(maximumFailedAttempts: nil))
/// ```
///
/// The reconnection time is the time that the server asks for with `retry`, otherwise ``reconnectionTime``. It is at
/// least ``minimumReconnectionTime`` and at most 6 h. After a stream that delivered an event, the wait is exactly this
/// time.
///
/// While streams end without an event, or attempts fail, the wait grows and is random. This keeps clients that lost a
/// server together from returning together. After n such attempts in a row, the wait is between the reconnection time
/// and 2ⁿ times that time, or 2ⁿ seconds if that is more. It is at most ``maximumReconnectionTime``, unless the server
/// asks for more. An event resets the count, and so does a stream that was open for ``maximumReconnectionTime``.
///
/// An attempt fails if it brings no response to read events from. Only such attempts count towards
/// ``maximumFailedAttempts``. A response to read events from resets that count.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `reconnectionTime` | 3 s | time | zero and up |
/// | `minimumReconnectionTime` | 0.5 s | time | zero and up |
/// | `maximumReconnectionTime` | 60 s | time | zero and up |
/// | `maximumFailedAttempts` | 10 | attempts in a row, including the first | 1 and up, `nil` for no limit |
/// | `shouldReconnect` | ``isNetworkFailure(_:)`` | | |
///
/// Source: HTML, 9.2.3 Processing model,
/// https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model
public struct ReconnectionPolicy: Sendable {
    /// The reconnection time until the server asks for one.
    public var reconnectionTime: Duration
    /// The shortest reconnection time, whatever the server asks for.
    ///
    /// It keeps `retry: 0` from making every client reconnect without a pause.
    public var minimumReconnectionTime: Duration
    /// The limit up to which the wait grows.
    public var maximumReconnectionTime: Duration
    /// How many attempts in a row may fail; `nil` for no limit.
    public var maximumFailedAttempts: Int?
    /// Returns whether to reconnect after a failure.
    public var shouldReconnect: @Sendable (PipelineError) -> Bool

    private(set) var isEnabled = true

    /// Reconnects after the end of a stream and after network failures.
    public static let standard = ReconnectionPolicy()

    /// Never reconnects: the events end with the stream.
    public static let never: ReconnectionPolicy = {
        var policy = ReconnectionPolicy()
        policy.isEnabled = false
        return policy
    }()

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - reconnectionTime: the reconnection time until the server asks for one.
    ///   - minimumReconnectionTime: the shortest reconnection time, whatever the server asks for.
    ///   - maximumReconnectionTime: the limit up to which the wait grows.
    ///   - maximumFailedAttempts: how many attempts in a row may fail; `nil` for no limit.
    ///   - shouldReconnect: whether to reconnect after a failure; also called for a status other than 200.
    public init(
        reconnectionTime: Duration = .seconds(3),
        minimumReconnectionTime: Duration = .milliseconds(500),
        maximumReconnectionTime: Duration = .seconds(60),
        maximumFailedAttempts: Int? = 10,
        shouldReconnect: @escaping @Sendable (PipelineError) -> Bool = isNetworkFailure
    ) {
        precondition(reconnectionTime >= .zero, "reconnectionTime is \(reconnectionTime), not zero or more")
        precondition(
            minimumReconnectionTime >= .zero,
            "minimumReconnectionTime is \(minimumReconnectionTime), not zero or more"
        )
        precondition(
            maximumReconnectionTime >= .zero,
            "maximumReconnectionTime is \(maximumReconnectionTime), not zero or more"
        )
        if let maximumFailedAttempts {
            precondition(maximumFailedAttempts > 0, "maximumFailedAttempts is \(maximumFailedAttempts), not 1 or more")
        }
        self.reconnectionTime = reconnectionTime
        self.minimumReconnectionTime = minimumReconnectionTime
        self.maximumReconnectionTime = maximumReconnectionTime
        self.maximumFailedAttempts = maximumFailedAttempts
        self.shouldReconnect = shouldReconnect
    }

    /// Returns whether the network failed, rather than the server or the request.
    ///
    /// These codes are network failures: `offline`, `dns`, `connect`, `connectionLost`, `timeout`, `truncated`,
    /// `contentCoding.truncated`, `transport`.
    public static func isNetworkFailure(_ error: PipelineError) -> Bool {
        switch error.code {
        case .offline, .dns, .connect, .connectionLost, .timeout, .truncated, .contentCoding(.truncated), .transport:
            true
        default: false
        }
    }

    /// Returns the wait before the next attempt.
    ///
    /// - Parameters:
    ///   - fruitlessAttempts: how many attempts in a row failed or brought no event.
    ///   - asked: the reconnection time that the server asked for.
    ///   - random: the source of randomness.
    /// - Returns: the wait.
    func delay(
        afterFruitlessAttempts fruitlessAttempts: Int,
        asked: Duration?,
        using random: inout PipelineRandom
    ) -> Duration {
        let base = min(max(asked ?? reconnectionTime, minimumReconnectionTime), .seconds(6 * 3_600))
        guard fruitlessAttempts > 0 else { return base }
        // 2¹⁵ seconds exceed every limit except the server's own.
        let grown = max(base, .seconds(1)) * (1 << min(fruitlessAttempts, 15))
        let bound = min(grown, max(maximumReconnectionTime, base))
        return base + (bound - base) * Double.random(in: 0...1, using: &random)
    }
}
