/// What a jar accepts.
public struct CookieRules: Sendable {
    /// The suffixes under which anyone can register a domain, such as `com` and `co.uk`; `nil` if none are known.
    ///
    /// A cookie for a suffix is refused, or kept for the host that set it if it is the suffix itself. Without a list, a
    /// cookie with a Domain attribute is kept for the host that set it, unless ``sharedDomains`` contains the domain.
    public var publicSuffixes: PublicSuffixList?

    /// Domains of the app's own whose cookies are sent to subdomains, even if ``publicSuffixes`` is `nil`.
    ///
    /// Unicode names and upper case are changed to the lower-case ASCII form.
    public var sharedDomains: Set<String> {
        didSet { sharedDomains = Self.asciiHosts(sharedDomains) }
    }

    /// The most cookies that a registrable domain and its subdomains may have together, 1 and up; defaults to 180.
    ///
    /// Without ``publicSuffixes``, each host and each shared domain has this number.
    public var cookiesPerDomain: Int

    /// The most cookies that a jar may have, 1 and up; defaults to 3000.
    public var cookieCount: Int

    /// Creates rules with the bounds that browsers have.
    public init(
        publicSuffixes: PublicSuffixList? = .system,
        sharedDomains: Set<String> = [],
        cookiesPerDomain: Int = 180,
        cookieCount: Int = 3000
    ) {
        precondition(cookiesPerDomain >= 1, "cookiesPerDomain is \(cookiesPerDomain), not 1 or more")
        precondition(cookieCount >= 1, "cookieCount is \(cookieCount), not 1 or more")
        self.publicSuffixes = publicSuffixes
        self.sharedDomains = Self.asciiHosts(sharedDomains)
        self.cookiesPerDomain = cookiesPerDomain
        self.cookieCount = cookieCount
    }

    private static func asciiHosts(_ domains: Set<String>) -> Set<String> {
        Set(domains.map { Punycode.asciiHost($0) ?? $0 })
    }

    /// Returns whether a domain, in lower-case ASCII form, is a public suffix; `false` without a list.
    func isPublicSuffix(_ domain: String) -> Bool {
        publicSuffixes?.suffix(of: domain) == domain
    }
}
