public import HTTPTypes

/// The rules by which a cache stores and reuses responses.
///
/// ```swift
/// var rules = CacheRules.private
/// rules.maximumHeuristicLifetime = .zero  // reuse only what the origin permits explicitly
/// ```
///
/// Source: RFC 9111, https://www.rfc-editor.org/rfc/rfc9111.html
public struct CacheRules: Sendable, Hashable {
    /// The users that share the responses of a cache.
    public struct Audience: Sendable, Hashable {
        private let name: String
        /// One user.
        ///
        /// Responses with the directive `private` may be stored. `s-maxage` and `proxy-revalidate` are ignored.
        public static let `private` = Audience(name: "private")
        /// Several users.
        ///
        /// Responses with the directive `private` are not stored. A response to a request with credentials is stored
        /// only if it has `public`, `s-maxage` or `must-revalidate`.
        public static let shared = Audience(name: "shared")
    }

    /// The rules for the responses of one user.
    public static let `private` = CacheRules()
    /// The rules for responses that several users share.
    public static let shared = CacheRules(audience: .shared)

    /// The users that share the responses; defaults to `private`.
    public var audience: Audience
    /// The response fields that replace Cache-Control and Expires, such as CDN-Cache-Control; defaults to none.
    ///
    /// The first of them that is present and valid applies (RFC 9213). A field of more than 1 KiB is ignored.
    public var targetedFields: [HTTPField.Name]
    /// The fraction of the time from Last-Modified to Date for which a response without an explicit lifetime is fresh.
    ///
    /// Defaults to 0.1. Values are clamped to 0 to 1; a value that is not finite counts as 0.
    public var heuristicFraction: Double
    /// The longest lifetime of a response without an explicit one; defaults to one day.
    ///
    /// Negative values count as zero.
    public var maximumHeuristicLifetime: Duration
    /// How long a stale response may be used after a failure of the origin; defaults to zero, which means never.
    ///
    /// The directive `stale-if-error` takes precedence. `must-revalidate`, `no-cache` and, in a shared cache,
    /// `proxy-revalidate` and `s-maxage` forbid the use (RFC 9111 §4.2.4).
    public var staleIfError: Duration

    /// Creates rules; without arguments, these are the rules for one user.
    public init(
        audience: Audience = .private,
        targetedFields: [HTTPField.Name] = [],
        heuristicFraction: Double = 0.1,
        maximumHeuristicLifetime: Duration = .seconds(86_400),
        staleIfError: Duration = .zero
    ) {
        self.audience = audience
        self.targetedFields = targetedFields
        self.heuristicFraction = heuristicFraction
        self.maximumHeuristicLifetime = maximumHeuristicLifetime
        self.staleIfError = staleIfError
    }

    var isShared: Bool { audience == .shared }
}
