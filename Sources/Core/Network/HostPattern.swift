/// A pattern for the hosts that a setting applies to.
///
/// | pattern | matches |
/// |---|---|
/// | `api.example.com` | this host |
/// | `*.example.com` | every host below `example.com`, at any depth, but not `example.com` itself |
/// | `192.0.2.1`, `[2001:db8::1]` | this address, compared as text |
/// | `*` | every host |
///
/// Case and a full stop at the end are ignored. A pattern has no port. Internationalized names are written in ASCII
/// (`xn--…`). If several patterns match a host, the most specific one applies: the exact name, then the longest
/// suffix, then `*`.
public struct HostPattern: Sendable, Hashable {
    /// The name in lower case: exact, or a suffix with a leading full stop; empty for every host.
    private let name: String
    private let isSuffix: Bool

    /// Parses a pattern.
    ///
    /// Returns `nil` if the text is empty, contains a scheme, a port or a path, or has an asterisk anywhere but in
    /// front.
    public init?(_ text: String) {
        if text == "*" {
            (name, isSuffix) = ("", true)
            return
        }
        let isSuffix = text.hasPrefix("*.")
        let name = Self.normalized(isSuffix ? String(text.dropFirst()) : text)
        let isAddress = name.contains(":")
        guard !name.isEmpty, name != ".", !isSuffix || !isAddress,
            name.utf8.allSatisfy({ Self.isAllowed($0, inAddress: isAddress) })
        else { return nil }
        // One colon separates a port; an IPv6 address has at least two.
        guard !isAddress || name.utf8.filter({ $0 == UInt8(ascii: ":") }).count > 1 else { return nil }
        (self.name, self.isSuffix) = (name, isSuffix)
    }

    /// Returns whether the pattern matches a host, given without a port; an IPv6 address may have brackets.
    public func matches(_ host: String) -> Bool {
        let host = Self.normalized(host)
        return isSuffix ? host.utf8.count > name.utf8.count && host.hasSuffix(name) : host == name
    }

    /// How specific the pattern is; the highest of several matching patterns applies.
    var rank: Int { isSuffix ? name.utf8.count : .max }

    private static func normalized(_ host: String) -> String {
        var host = host[...]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        if host.last == "." { host = host.dropLast() }
        return host.lowercased()
    }

    private static func isAllowed(_ byte: UInt8, inAddress: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        case UInt8(ascii: ":"): inAddress
        default: false
        }
    }
}

extension HostPattern: ExpressibleByStringLiteral {
    /// Creates a pattern from a literal; an invalid one stops the program.
    public init(stringLiteral text: String) {
        guard let pattern = HostPattern(text) else {
            preconditionFailure("\"\(text)\" is not a host pattern such as api.example.com or *.example.com")
        }
        self = pattern
    }
}

extension HostPattern: CustomStringConvertible {
    /// The pattern as it is written.
    public var description: String { isSuffix ? "*" + name : name }
}
