public import Foundation
public import PipelineCore

extension CookieJar {
    /// A cookie as a jar keeps it.
    ///
    /// **Secrets**: ``value`` is a credential. Descriptions show the name, the domain and the path only.
    public struct Cookie: Sendable, Hashable, Codable {
        /// The requests of other sites that a cookie is sent with.
        public enum SameSite: String, Sendable, Hashable, Codable {
            /// None.
            case strict
            /// Those with a safe method.
            case lax
            /// All, if the cookie is secure.
            case unrestricted = "none"
        }

        /// The name; may be empty.
        public var name: String
        /// The value, without any change: quotes stay, and nothing is decoded.
        public var value: String
        /// The host or domain in lower-case ASCII form (`xn--`), without a leading dot, and an IPv6 address in
        /// brackets.
        ///
        /// Other forms are converted. A text that cannot be a host becomes empty, and a jar does not keep the cookie.
        public var domain: String { didSet { domain = CookieDomain.normalized(domain) } }
        /// Whether the cookie is sent to the host ``domain`` only, and not to its subdomains.
        public var isHostOnly: Bool
        /// The path; begins with `/`.
        public var path: String
        /// When the cookie expires; `nil` for a cookie of the session.
        public var expiry: Date?
        /// Whether the cookie is sent over https only, or to a loopback address.
        public var isSecure: Bool
        /// Whether the server asks to hide the cookie from scripts.
        public var isHTTPOnly: Bool
        /// The value of SameSite; `nil` if the server sent none, which counts as lax.
        public var sameSite: SameSite?
        /// When the cookie was created.
        public var created: Date
        /// When the cookie was last sent or set.
        public var lastAccessed: Date
        /// The position in the order of creation.
        var order = 0
        /// The Domain attribute of a cookie that is sent only to its host, because no list of suffixes is known.
        ///
        /// A response of another host removes the cookie if it expires one with this attribute.
        var domainAttribute: String?

        /// Creates a cookie that no response set.
        ///
        /// - Parameters:
        ///   - name: the name; may be empty.
        ///   - value: the value, sent without any change.
        ///   - domain: the host or domain in any form, see ``domain``.
        ///   - isHostOnly: whether the cookie is not sent to subdomains.
        ///   - path: the path.
        ///   - expiry: when the cookie expires; `nil` for a cookie of the session.
        ///   - isSecure: whether the cookie is sent over https only.
        ///   - isHTTPOnly: whether the server asks to hide the cookie from scripts.
        ///   - sameSite: the value of SameSite.
        ///   - created: when the cookie was created; also the time of last access.
        public init(
            _ name: String,
            _ value: String,
            domain: String,
            isHostOnly: Bool = true,
            path: String = "/",
            expiry: Date? = nil,
            isSecure: Bool = true,
            isHTTPOnly: Bool = true,
            sameSite: SameSite? = nil,
            created: Date
        ) {
            self.name = name
            self.value = value
            self.domain = CookieDomain.normalized(domain)
            self.isHostOnly = isHostOnly
            self.path = path.utf8.first == UInt8(ascii: "/") ? path : "/"
            self.expiry = expiry
            self.isSecure = isSecure
            self.isHTTPOnly = isHTTPOnly
            self.sameSite = sameSite
            self.created = created
            lastAccessed = created
        }

        /// What a new cookie has in common with the one that it replaces.
        ///
        /// Bytes, because equal strings may be in different Unicode normalization forms.
        var identity: [[UInt8]] { [domain, name, path].map { Array($0.utf8) } + [[isHostOnly ? 1 : 0]] }

        /// Whether a new cookie with the name, domain and path of this one replaces it.
        func isSame(as other: Cookie) -> Bool {
            domain == other.domain && isHostOnly == other.isHostOnly && hasNameAndPath(of: other)
        }

        func hasNameAndPath(of other: Cookie) -> Bool {
            hasName(of: other) && path.utf8.elementsEqual(other.path.utf8)
        }

        /// Whether the names have the same bytes; equal strings may be in different Unicode normalization forms.
        func hasName(of other: Cookie) -> Bool {
            name.utf8.elementsEqual(other.name.utf8)
        }

        /// Returns whether the cookie has expired at a time.
        func isExpired(at now: Date) -> Bool {
            expiry.map { $0 <= now } ?? false
        }
    }
}

extension CookieJar.Cookie: SafelyDescribed {
    /// The name, the domain and the path.
    public var description: String { "\(name) of \(domain)\(path)" }
}
