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
        /// The directives `private`, `s-maxage` and `proxy-revalidate` have no effect.
        public static let `private` = Audience(name: "private")
        /// Any number of users.
        ///
        /// A response to a request with credentials is stored only if the origin permits it.
        public static let shared = Audience(name: "shared")
    }

    /// The rules for the responses of one user.
    public static let `private` = CacheRules()
    /// The rules for responses that several users share.
    public static let shared = CacheRules(audience: .shared)

    /// The users that share the responses; defaults to `private`.
    public var audience: Audience
    /// The response fields that replace Cache-Control and Expires, such as CDN-Cache-Control; none by default.
    ///
    /// The first field that a response has and that is valid applies (RFC 9213).
    public var targetedFields: [HTTPField.Name]
    /// The share of the time since Last-Modified for which a response without an explicit lifetime is fresh.
    ///
    /// The range is 0 to 1, other values are clamped; the default is 0.1.
    public var heuristicFraction: Double
    /// The longest lifetime of a response without an explicit one; defaults to one day.
    ///
    /// Negative values count as zero.
    public var maximumHeuristicLifetime: Duration
    /// How long after its lifetime a response may be used if the origin fails and says nothing about that.
    ///
    /// Defaults to zero, which means never. The directive `stale-if-error` takes precedence, and `must-revalidate`,
    /// `no-cache` and, for a shared cache, `proxy-revalidate` and `s-maxage` forbid it (RFC 9111 §4.2.4).
    public var staleIfError: Duration

    /// Creates rules for one user, unless the arguments say otherwise.
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
