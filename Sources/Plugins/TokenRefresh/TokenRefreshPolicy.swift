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
/// | `withoutCredential` | `.fail` | | `.fail`, `.send`, `.sendAll` |
/// | `isUnauthorized` | status 401 | | |
public struct TokenRefreshPolicy: Sendable {
    /// What happens to a call that asks for a token when there is no credential for it.
    ///
    /// There is none before the first log-in and after the end of a session. There is none either for a call of a session that has
    /// ended, whoever is logged in by then: the call waits for a token, is refused, is retried, or began before the end.
    public struct WithoutCredential: Sendable, Hashable {
        private enum Kind { case fail, send, sendAll }

        private let kind: Kind

        /// The call fails with `sessionEnded` and is not sent.
        public static let fail = Self(kind: .fail)
        /// The call is sent without a token, but a call of a session that has ended fails with `sessionEnded`.
        ///
        /// For an API that can also be used without a log-in.
        public static let send = Self(kind: .send)
        /// The call is sent without a token, also if its session has ended; if it was refused, its response is returned.
        public static let sendAll = Self(kind: .sendAll)
    }

    /// How long before its expiry a credential is refreshed, but at most half of its life.
    let leeway: Duration
    /// How long a refresh may take, on the provider's clock.
    let timeout: Duration
    /// How many refreshes may begin within ``window``, successful or not.
    let maximumCount: Int
    /// The time over which refreshes are counted.
    let window: Duration
    /// What happens to a call that asks for a token when there is no credential for it.
    let withoutCredential: WithoutCredential
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
    ///   - withoutCredential: what happens to a call that asks for a token when there is no credential for it. A plugin made with
    ///     `obtain:` asks for a credential first.
    ///   - isUnauthorized: whether a response says that the token is refused. Only responses to requests with the token are
    ///     shown to it. Of a call made with `stream` the body has not arrived and must not be read.
    public init(
        leeway: Duration = .seconds(60),
        timeout: Duration = .seconds(30),
        maximumCount: Int = 5,
        window: Duration = .seconds(30),
        withoutCredential: WithoutCredential = .fail,
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
        self.withoutCredential = withoutCredential
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
