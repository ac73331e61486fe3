extension ServerSentEvent {
    /// A policy that decides whether a subscription to Server-Sent Events reconnects, and how long it waits before it
    /// does.
    ///
    /// ```swift
    /// provider.serverSentEvents(.news, reconnection: .never)
    /// provider.serverSentEvents(.news, reconnection: ServerSentEvent.ReconnectionPolicy(maximumFailedAttempts: nil))
    /// ```
    ///
    /// The reconnection time is the time that the server requests with a `retry` field, or ``reconnectionTime`` if it
    /// requests none. It is at least ``minimumReconnectionTime`` and at most 6 h. After a stream that delivered an
    /// event, the subscription waits exactly this time.
    ///
    /// If attempts fail, or streams end without an event, the wait grows exponentially with random jitter. Clients that
    /// lost their connections at the same time therefore do not all reconnect at once. After n such attempts in a row,
    /// the wait is between the reconnection time and 2ⁿ times that time, or 2ⁿ seconds if that is more. It is at most
    /// ``maximumReconnectionTime``, unless the server requests more. The count restarts after a stream that delivered
    /// an event or was open for ``maximumReconnectionTime``.
    ///
    /// An attempt fails if it gets no response that opens a stream. Only these attempts count towards
    /// ``maximumFailedAttempts``. A stream that opens resets that count.
    ///
    /// **Defaults**
    ///
    /// | setting | default | unit | range |
    /// |---|---|---|---|
    /// | `reconnectionTime` | 3 s | time | zero or more |
    /// | `minimumReconnectionTime` | 0.5 s | time | zero or more |
    /// | `maximumReconnectionTime` | 60 s | time | zero or more |
    /// | `maximumFailedAttempts` | 10 | attempts in a row, including the first | 1 or more, `nil` for no limit |
    /// | `shouldReconnect` | ``isNetworkFailure(_:)`` | | |
    ///
    /// Source: HTML, 9.2.3 Processing model,
    /// https://html.spec.whatwg.org/multipage/server-sent-events.html#sse-processing-model
    public struct ReconnectionPolicy: Sendable {
        /// The reconnection time that applies until the server requests one with `retry`.
        public var reconnectionTime: Duration
        /// The shortest reconnection time, even if the server requests less.
        ///
        /// Without this minimum, `retry: 0` would make every client reconnect without a pause.
        public var minimumReconnectionTime: Duration
        /// The longest wait after repeated failures, unless the server requests a longer one.
        public var maximumReconnectionTime: Duration
        /// The number of failed attempts in a row after which the subscription ends with an error; `nil` for no limit.
        public var maximumFailedAttempts: Int?
        /// Returns whether the subscription reconnects after this error.
        public var shouldReconnect: @Sendable (PipelineError) -> Bool

        private(set) var isEnabled = true

        /// Reconnects after the end of a stream and after network failures.
        public static let standard = ServerSentEvent.ReconnectionPolicy()

        /// Never reconnects: the events end with the stream.
        public static let never: ServerSentEvent.ReconnectionPolicy = {
            var policy = ServerSentEvent.ReconnectionPolicy()
            policy.isEnabled = false
            return policy
        }()

        /// Creates a policy.
        ///
        /// - Parameters:
        ///   - reconnectionTime: the reconnection time that applies until the server requests one.
        ///   - minimumReconnectionTime: the shortest reconnection time, even if the server requests less.
        ///   - maximumReconnectionTime: the longest wait after repeated failures, unless the server requests more.
        ///   - maximumFailedAttempts: how many failed attempts in a row end the subscription; `nil` for no limit.
        ///   - shouldReconnect: returns whether to reconnect after an error; also called for a status other than 200.
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
                precondition(
                    maximumFailedAttempts > 0,
                    "maximumFailedAttempts is \(maximumFailedAttempts), not 1 or more"
                )
            }
            self.reconnectionTime = reconnectionTime
            self.minimumReconnectionTime = minimumReconnectionTime
            self.maximumReconnectionTime = maximumReconnectionTime
            self.maximumFailedAttempts = maximumFailedAttempts
            self.shouldReconnect = shouldReconnect
        }

        /// Returns whether an error is a network failure and not a failure of the server or the request.
        ///
        /// Network failures have these codes: `offline`, `dns`, `connect`, `connectionLost`, `timeout`, `truncated`,
        /// `contentCoding.truncated`, `transport`.
        public static func isNetworkFailure(_ error: PipelineError) -> Bool {
            switch error.code {
            case .offline, .dns, .connect, .connectionLost, .timeout, .truncated, .contentCoding(.truncated),
                .transport:
                true
            default: false
            }
        }

        /// Returns the wait before the next attempt.
        ///
        /// - Parameters:
        ///   - fruitlessAttempts: the number of attempts in a row that failed or delivered no event.
        ///   - asked: the reconnection time that the server requested; `nil` if it requested none.
        ///   - random: the source of randomness.
        /// - Returns: the wait.
        func delay(
            afterFruitlessAttempts fruitlessAttempts: Int,
            asked: Duration?,
            using random: inout PipelineRandom
        ) -> Duration {
            let base = min(max(asked ?? reconnectionTime, minimumReconnectionTime), .seconds(6 * 3_600))
            guard fruitlessAttempts > 0 else { return base }
            // 2¹⁵ seconds exceed every limit except a longer time that the server requests.
            let grown = max(base, .seconds(1)) * (1 << min(fruitlessAttempts, 15))
            let bound = min(grown, max(maximumReconnectionTime, base))
            return base + (bound - base) * Double.random(in: 0...1, using: &random)
        }
    }
}
