#if AsyncHTTPClient
import HTTPTypes
import PipelineCore

/// The host and port to which a proxy opens a connection.
struct ProxyTarget: Sendable, Hashable {
    /// A name in lower case, or an address without brackets.
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        (self.host, self.port) = (host.lowercased(), port)
    }

    /// Parses `host:port`; an IPv6 address may lack brackets.
    ///
    /// Returns `nil` if a part is missing or has a character that neither a name nor an address has.
    init?(_ authority: Substring) {
        guard let colon = authority.lastIndex(of: ":"), let port = UInt16(authority[authority.index(after: colon)...]),
            port > 0
        else { return nil }
        var host = authority[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, host.utf8.count < 256, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !host.contains(where: { "[]/@?#".contains($0) })
        else { return nil }
        self.init(host: String(host), port: port)
    }

    /// The target of a request, or `nil` if it has no host.
    init?(_ request: PipelineRequest) {
        guard let authority = request.head.authority else { return nil }
        let defaultPort = request.head.scheme == "https" ? 443 : 80
        guard let target = Self(authority[...]) ?? Self("\(authority):\(defaultPort)") else { return nil }
        self = target
    }

    /// The target as a CONNECT request names it.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// The target as a SOCKS5 request names it: the type, the address or the name, and the port.
    ///
    /// Source: RFC 1928 §5
    var socksAddress: [UInt8] {
        let portBytes = [UInt8(port >> 8), UInt8(port & 0xFF)]
        if let address = ProxyExceptions.address(host) { return [address.count == 4 ? 1 : 4] + address + portBytes }
        let name = Array(host.utf8)
        return [3, UInt8(clamping: name.count)] + name + portBytes
    }
}
#endif
