/// What a jar accepts.
///
/// A site has at most 180 cookies with 64 KiB in a jar, and a jar at most 3000 cookies with 1 MiB. The bytes of a
/// cookie are those of its name, value, domain and path. If a new cookie exceeds a bound, those whose last use is
/// longest ago are removed, first those of its site. A site is a registrable domain with its subdomains. Without
/// ``publicSuffixes``, each host and each shared domain is one.
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

    /// A number of cookies and of their bytes.
    struct Bound {
        var count: Int
        var byteCount: Int
    }

    /// The most that a site may have.
    var siteBound = Bound(count: 180, byteCount: 64 << 10)
    /// The most that a jar may have.
    var jarBound = Bound(count: 3000, byteCount: 1 << 20)

    /// Creates rules with the list of the system by default, and no shared domains.
    public init(publicSuffixes: PublicSuffixList? = .system, sharedDomains: Set<String> = []) {
        self.publicSuffixes = publicSuffixes
        self.sharedDomains = Self.asciiHosts(sharedDomains)
    }

    private static func asciiHosts(_ domains: Set<String>) -> Set<String> {
        Set(domains.map { Punycode.asciiHost($0) ?? $0 })
    }

    /// Returns the site of a domain: the registrable domain, or the domain itself.
    func site(of domain: String) -> String { publicSuffixes?.registrableDomain(of: domain) ?? domain }

    /// Returns whether a domain, in lower-case ASCII form, is a public suffix; `false` without a list.
    func isPublicSuffix(_ domain: String) -> Bool {
        publicSuffixes?.suffix(of: domain) == domain
    }
}
