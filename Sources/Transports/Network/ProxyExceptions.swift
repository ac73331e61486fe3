import Foundation

/// The hosts that `NO_PROXY` exempts, matched as curl matches them.
///
/// `*` alone exempts every host. Otherwise the list contains names and addresses, separated by commas. A name exempts
/// itself and every host below it. Its case is ignored, and so is a full stop at its beginning or end. An address
/// exempts itself, or its network if it has a prefix length, such as `127.0.0.0/8`.
///
/// curl ignores an entry with a port or brackets. Where curl does not choose the proxy, such an entry exempts its host,
/// and with a port only that port, as in Go and Python: `localhost:8080`, `[::1]`, `[::1]:8080`.
///
/// Versions of curl differ on whether a blank also separates entries. Here it ends the list, so that fewer hosts are
/// exempt.
///
/// Source: https://curl.se/libcurl/c/CURLOPT_NOPROXY.html
struct ProxyExceptions: Sendable {
    private let isEverything: Bool
    private let entries: [Substring]

    /// - Parameter text: the value of the variable.
    init(_ text: String) {
        isEverything = text == "*"
        var entries: [Substring] = []
        for part in text.split(separator: ",") {
            let words = part.split { $0 == " " || $0 == "\t" }
            if let entry = words.first { entries.append(entry) }
            if words.count > 1 { break }
        }
        self.entries = entries
    }

    /// Returns whether a host uses no proxy.
    ///
    /// - Parameters:
    ///   - host: a name, or an address without brackets.
    ///   - port: the port of the request; `nil` ignores entries with ports or brackets, as curl does.
    /// - Returns: `true` if the list exempts the host.
    func contains(_ host: String, port: Int? = nil) -> Bool {
        if isEverything { return true }
        guard !host.isEmpty else { return false }
        let entries = port.map { port in self.entries.compactMap { Self.host(of: $0, port) } } ?? entries
        if let address = Self.address(host) {
            return entries.contains { Self.matches(address, network: $0) }
        }
        let name = Self.withoutLastStop(host[...]).lowercased()
        return entries.contains { Self.matches(name, domain: $0) }
    }

    /// Returns an entry without its port and brackets; `nil` if it is for another port.
    private static func host(of entry: Substring, _ port: Int) -> Substring? {
        var (host, end) = (entry, entry[entry.endIndex...])
        if entry.first == "[", let close = entry.firstIndex(of: "]") {
            (host, end) = (entry[..<close].dropFirst(), entry[close...].dropFirst())
            // Only an IPv6 address has brackets.
            guard host.contains(":") else { return nil }
        } else if let colon = entry.firstIndex(of: ":"), colon == entry.lastIndex(of: ":") {
            (host, end) = (entry[..<colon], entry[colon...])
        }
        return end.isEmpty || end == ":\(port)" ? host : nil
    }

    private static func matches(_ name: String, domain entry: Substring) -> Bool {
        var domain = withoutLastStop(entry)
        if domain.first == "." { domain = domain.dropFirst() }
        guard !domain.isEmpty else { return false }
        let text = domain.lowercased()
        return name == text || name.hasSuffix("." + text)
    }

    private static func withoutLastStop(_ name: Substring) -> Substring {
        name.last == "." ? name.dropLast() : name
    }

    private static func matches(_ address: [UInt8], network entry: Substring) -> Bool {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = self.address(String(parts[0])), network.count == address.count else { return false }
        let whole = address.count * 8
        guard let bitCount = parts.count == 1 ? whole : Int(parts[1]), (0...whole).contains(bitCount) else {
            return false
        }
        // curl treats a prefix length of 0 as none.
        let length = bitCount == 0 ? whole : bitCount
        return (0..<length).allSatisfy { bit in
            let mask = UInt8(0x80) >> (bit % 8)
            return address[bit / 8] & mask == network[bit / 8] & mask
        }
    }

    /// Returns the bytes of an IPv4 or IPv6 address, or `nil` for any other text.
    static func address(_ text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
