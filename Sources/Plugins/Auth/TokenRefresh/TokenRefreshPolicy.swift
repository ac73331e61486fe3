import Foundation
public import PipelineCore

/// The rules for when `TokenRefreshPlugin` refreshes a credential, and how often.
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
    /// The handling of a call that requires a token and has no credential.
    ///
    /// A call has no credential before the first login and after the end of a session. A call of a session that has
    /// ended has none either, even if another user has logged in. This applies to a call that waits for a token when
    /// the session ends, that is refused or retried later, or that reaches the plugin later although it began before
    /// the end.
    public struct WithoutCredential: Sendable, Hashable {
        private enum Kind { case fail, send, sendAll }

        private let kind: Kind

        /// The call fails with `sessionEnded` and is not sent.
        public static let fail = Self(kind: .fail)
        /// The call is sent without a token, but a call of a session that has ended fails with `sessionEnded`.
        ///
        /// Suitable for an API that can also be used without a login.
        public static let send = Self(kind: .send)
        /// The call is sent without a token, even if its session has ended; if it was refused, its response is
        /// returned.
        public static let sendAll = Self(kind: .sendAll)
    }

    /// How long before its expiry a credential is refreshed, but at most half of its lifetime.
    let leeway: Duration
    /// The time limit for a refresh, on the provider's clock.
    let timeout: Duration
    /// The maximum number of refreshes that may begin within ``window``, successful or not.
    let maximumCount: Int
    /// The period over which refreshes are counted.
    let window: Duration
    /// The handling of a call that requires a token and has no credential.
    let withoutCredential: WithoutCredential
    /// Returns whether a response refuses the token.
    let isUnauthorized: @Sendable (PipelineResponse) -> Bool

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - leeway: how long before its expiry a credential is refreshed, but at most half of its lifetime; zero means
    ///     only after it has expired.
    ///   - timeout: the time limit for a refresh.
    ///   - maximumCount: the maximum number of refreshes that may begin within the window.
    ///   - window: the period over which refreshes are counted.
    ///   - withoutCredential: the handling of a call that requires a token and has no credential. A plugin made with
    ///     `obtain:` asks for a credential first.
    ///   - isUnauthorized: returns whether a response refuses the token. It is called only for responses to requests
    ///     with the token. If the call was made with `stream`, the body has not arrived and must not be read.
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

    /// Returns the date from which a credential that the application set or restored is refreshed before use.
    ///
    /// - Parameters:
    ///   - credential: the credential.
    ///   - date: when the plugin received it; its lifetime is counted from then, unless it has a date of issue.
    /// - Returns: a date, which may have passed; `nil` if the credential has no expiry.
    func due(_ credential: some TokenCredential, receivedAt date: Date) -> Date? {
        expiry(of: credential, receivedAt: date).map { due($0, issuedAt: credential.issuedAt ?? date) }
    }

    /// Returns the date from which a credential that a refresh returned is refreshed before use.
    ///
    /// Its lifetime is counted by the clock of this machine alone. A credential that seems to have expired on arrival
    /// is used until a server refuses it: one of the clocks is wrong, and otherwise every call would refresh.
    func due(_ credential: some TokenCredential, refreshedAt date: Date) -> Date? {
        expiry(of: credential, receivedAt: date).flatMap { $0 > date ? due($0, issuedAt: date) : nil }
    }

    private func expiry(of credential: some TokenCredential, receivedAt date: Date) -> Date? {
        credential.expiry ?? credential.expiresIn.map { date.addingTimeInterval($0 / .seconds(1)) }
    }

    private func due(_ expiry: Date, issuedAt date: Date) -> Date {
        let life = max(0, expiry.timeIntervalSince(date))
        return expiry.addingTimeInterval(-min(leeway / .seconds(1), life / 2))
    }
}
