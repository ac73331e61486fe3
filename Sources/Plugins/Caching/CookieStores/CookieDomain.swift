/// Comparisons of hosts, domains and paths.
///
/// Source: RFC 6265bis §5.1.3, §5.1.4
enum CookieDomain {
    /// Returns a domain in the form of a request's host, without a leading dot; empty if it cannot be a host.
    static func normalized(_ domain: String) -> String {
        let domain = domain.drop { $0 == "." }
        let isAddress = domain.utf8.contains(UInt8(ascii: ":")) && domain.utf8.first != UInt8(ascii: "[")
        return Punycode.asciiHost(isAddress ? "[\(domain)]" : String(domain)) ?? ""
    }

    /// Returns whether a host is a domain or one of its subdomains.
    ///
    /// Both are in lower-case ASCII form.
    static func matches(_ host: String, _ domain: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix(domain) && host.dropLast(domain.utf8.count).last == "." && !Punycode.isIPAddress(host)
    }

    /// Returns whether the host is an address of this machine, which http reaches without crossing a network.
    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let numbers = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { label in
            label.allSatisfy { (0x30...0x39).contains($0) } ? UInt8(Substring(label)) : nil
        }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }

    /// Returns whether a cookie with a path is sent to a request's path.
    static func pathMatches(_ requested: String, _ path: String) -> Bool {
        let (requested, path) = (requested.utf8, path.utf8)
        guard requested.starts(with: path) else { return false }
        return requested.count == path.count || path.last == slash || requested.dropFirst(path.count).first == slash
    }

    /// Returns the path of a cookie without a Path attribute: the request's path up to its last slash.
    static func defaultPath(_ requested: String) -> String {
        guard requested.utf8.first == slash, let end = requested.utf8.lastIndex(of: slash), end != requested.startIndex
        else { return "/" }
        return String(requested[..<end])
    }

    private static let slash = UInt8(ascii: "/")
}
