import Foundation
public import Pipeline

/// When `TokenRefreshPlugin` refreshes, and how often it may.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `leeway` | 60 | seconds before the expiry | 0 and up |
/// | `timeout` | 30 | seconds for one refresh | more than 0 |
/// | `maximumCount` | 5 | refreshes begun within `window` | 1 and up |
/// | `window` | 30 | seconds | more than 0 |
/// | `isUnauthorized` | status 401 | | |
public struct TokenRefreshPolicy: Sendable {
    /// How long before its expiry a credential is refreshed; of one that a refresh has given, at most half of its life.
    public let leeway: Duration
    /// How long a refresh may take, on the provider's clock.
    public let timeout: Duration
    /// How many refreshes may begin within ``window``, successful or not.
    public let maximumCount: Int
    /// The time over which refreshes are counted.
    public let window: Duration
    /// Whether a response says that the token is refused.
    public let isUnauthorized: @Sendable (PipelineResponse) -> Bool

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - leeway: how long before its expiry a credential is refreshed; with zero when it has expired.
    ///   - timeout: how long a refresh may take.
    ///   - maximumCount: how many refreshes may begin within the window.
    ///   - window: the time over which refreshes are counted.
    ///   - isUnauthorized: whether a response says that the token is refused. Only responses to requests with the token are
    ///     shown to it. Of a call made with `stream` the body has not arrived and must not be read.
    public init(
        leeway: Duration = .seconds(60),
        timeout: Duration = .seconds(30),
        maximumCount: Int = 5,
        window: Duration = .seconds(30),
        isUnauthorized: @escaping @Sendable (PipelineResponse) -> Bool = { $0.statusCode == 401 }
    ) {
        precondition(leeway >= .zero, "leeway is \(leeway), not zero or more")
        precondition(timeout > .zero, "timeout is \(timeout), not more than zero")
        precondition(maximumCount > 0, "maximumCount is \(maximumCount), not 1 or more")
        precondition(window > .zero, "window is \(window), not more than zero")
        self.leeway = leeway
        self.timeout = timeout
        self.maximumCount = maximumCount
        self.window = window
        self.isUnauthorized = isUnauthorized
    }

    /// From when on a credential is refreshed before it is used.
    func due(_ credential: (any TokenCredential)?) -> Date? {
        credential?.expiry?.addingTimeInterval(-(leeway / .seconds(1)))
    }

    /// From when on a credential is refreshed before it is used, that a refresh gave at this date.
    ///
    /// One that seems to have expired by then is judged by the server alone: a clock is wrong, and it would be refreshed again and
    /// again. So would one whose whole life is shorter than the leeway.
    func due(_ credential: (any TokenCredential)?, receivedAt date: Date) -> Date? {
        guard let expiry = credential?.expiry, expiry > date else { return nil }
        let life = expiry.timeIntervalSince(date)
        return expiry.addingTimeInterval(-min(leeway / .seconds(1), life / 2))
    }
}
