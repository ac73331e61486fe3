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
/// | `sessionEnd` | `.failCalls` | | `.failCalls`, `.sendWithoutToken` |
/// | `isUnauthorized` | status 401 | | |
public struct TokenRefreshPolicy: Sendable {
    /// What happens to the calls of a session that has ended.
    public struct SessionEnd: Sendable, Hashable {
        private enum Kind { case failCalls, sendWithoutToken }

        private let kind: Kind

        /// Calls that wait fail with `sessionEnded`, and so do calls that are refused or retried afterwards.
        public static let failCalls = Self(kind: .failCalls)
        /// Calls that wait are sent without a token, calls that are refused get their response, and a retry has the present
        /// token.
        public static let sendWithoutToken = Self(kind: .sendWithoutToken)
    }

    /// How long before its expiry a credential is refreshed, but at most half of its life.
    let leeway: Duration
    /// How long a refresh may take, on the provider's clock.
    let timeout: Duration
    /// How many refreshes may begin within ``window``, successful or not.
    let maximumCount: Int
    /// The time over which refreshes are counted.
    let window: Duration
    /// What happens to calls that wait for a token when the session ends, and to those that are refused afterwards.
    let sessionEnd: SessionEnd
    /// Whether a response says that the token is refused.
    let isUnauthorized: @Sendable (PipelineResponse) -> Bool

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - leeway: how long before its expiry a credential is refreshed, but at most half of its life; with zero, only once it
    ///     has expired.
    ///   - timeout: how long a refresh may take.
    ///   - maximumCount: how many refreshes may begin within the window.
    ///   - window: the time over which refreshes are counted.
    ///   - sessionEnd: what happens to the calls of a session that has ended.
    ///   - isUnauthorized: whether a response says that the token is refused. Only responses to requests with the token are
    ///     shown to it. Of a call made with `stream` the body has not arrived and must not be read.
    public init(
        leeway: Duration = .seconds(60),
        timeout: Duration = .seconds(30),
        maximumCount: Int = 5,
        window: Duration = .seconds(30),
        sessionEnd: SessionEnd = .failCalls,
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
        self.sessionEnd = sessionEnd
        self.isUnauthorized = isUnauthorized
    }

    /// Returns the date from which a credential is refreshed before it is used, for one that the application has set or restored.
    ///
    /// - Parameters:
    ///   - credential: the credential.
    ///   - date: when the plugin received it; its life is counted from then, unless it says when it was issued.
    /// - Returns: a date that may have passed, `nil` if the credential has no expiry.
    func due(_ credential: some TokenCredential, receivedAt date: Date) -> Date? {
        credential.expiry.map { due($0, issuedAt: credential.issuedAt ?? date) }
    }

    /// Returns the date from which a credential is refreshed before it is used, for one that a refresh has given.
    ///
    /// Its life is counted by the clock of this machine alone. One that seems to have expired on arrival is used until a server
    /// refuses it: a clock is wrong, and every call would refresh.
    func due(_ credential: some TokenCredential, refreshedAt date: Date) -> Date? {
        credential.expiry.flatMap { $0 > date ? due($0, issuedAt: date) : nil }
    }

    private func due(_ expiry: Date, issuedAt date: Date) -> Date {
        let life = max(0, expiry.timeIntervalSince(date))
        return expiry.addingTimeInterval(-min(leeway / .seconds(1), life / 2))
    }
}
