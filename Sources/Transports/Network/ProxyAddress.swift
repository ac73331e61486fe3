import Foundation

/// A proxy as written in an environment variable: `[scheme://][user[:password]@]host[:port]`.
struct ProxyAddress: Equatable {
    /// In lower case; defaults to `http`.
    let scheme: String
    /// The host, without brackets.
    let host: String
    /// Defaults to 443 for `https` and to 1080 otherwise, as in curl.
    let port: Int
    let credential: Credential?

    /// A user name and password, percent-decoded.
    struct Credential: Equatable {
        let user: String
        let password: String
    }

    /// Parses the value of a variable.
    ///
    /// Returns `nil` if it has no host or an invalid port.
    init?(_ text: String) {
        let separator = text.firstRange(of: "://")
        scheme = separator.map { text[..<$0.lowerBound].lowercased() } ?? "http"
        var authority = (separator.map { text[$0.upperBound...] } ?? text[...]).prefix { !"/?#".contains($0) }
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let password = parts.count > 1 ? Self.decoded(parts[1]) : ""
            credential = Credential(user: Self.decoded(parts[0]), password: password)
            authority = authority[authority.index(after: at)...]
        } else {
            credential = nil
        }
        var port = authority[authority.endIndex...]
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            port = authority[authority.index(after: close)...]
            authority = authority[..<close].dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            port = authority[colon...]
            authority = authority[..<colon]
        }
        guard !authority.isEmpty, let number = Self.number(port, of: scheme) else { return nil }
        self.host = String(authority)
        self.port = number
    }

    /// Returns the number after the colon.
    private static func number(_ text: Substring, of scheme: String) -> Int? {
        guard !text.isEmpty, text != ":" else { return scheme == "https" ? 443 : 1_080 }
        guard text.first == ":", let number = UInt16(text.dropFirst()), number > 0 else { return nil }
        return Int(number)
    }

    private static func decoded(_ text: Substring) -> String { text.removingPercentEncoding ?? String(text) }
}
