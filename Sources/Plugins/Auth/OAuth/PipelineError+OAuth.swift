public import PipelineCore

extension PipelineError.Code.Kind {
    /// A failure of ``OAuthPlugin``.
    public static let oauth = Self("oauth")
}

extension PipelineError.Code {
    /// The reason why a sign-in, a refresh or a revocation failed.
    public struct OAuthFailure: Sendable, Hashable {
        let rawValue: String

        /// The authorization server responded with an error; the underlying error is an ``OAuthServerError``.
        public static let server = Self(rawValue: "server")
        /// The user or the server denied the authorization.
        public static let denied = Self(rawValue: "denied")
        /// The device code expired, or the browser did not return in time.
        public static let expired = Self(rawValue: "expired")
        /// The authorization response does not belong to this sign-in: its state or its redirect URI differs.
        public static let state = Self(rawValue: "state")
        /// The metadata or the authorization response names another issuer.
        public static let issuer = Self(rawValue: "issuer")
        /// A response of the authorization server could not be understood.
        public static let response = Self(rawValue: "response")
        /// An endpoint is missing, or is neither https nor a loopback address.
        public static let endpoint = Self(rawValue: "endpoint")
        /// Another sign-in is in progress.
        public static let signInProgress = Self(rawValue: "signInProgress")
        /// The loopback address for the redirect could not be opened.
        public static let redirect = Self(rawValue: "redirect")
    }

    /// A sign-in, a refresh or a revocation of ``OAuthPlugin`` failed.
    public static func oauth(_ failure: OAuthFailure) -> Self { Self(.oauth, failure.rawValue) }
}
