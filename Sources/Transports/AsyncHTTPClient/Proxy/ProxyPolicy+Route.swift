#if AsyncHTTPClient
import Foundation
public import PipelineCore

extension AsyncHTTPClientTransport.ProxyPolicy {
    /// A way to a server: direct, or through a proxy.
    ///
    /// Neither its description nor `dump` shows the credential.
    public struct Route: Sendable, Hashable {
        enum Kind: Sendable {
            case direct
            case http
            case https
            case socks5
        }

        let kind: Kind
        let host: String
        let port: Int
        let credential: Credential?

        /// Connects to the server directly.
        public static let direct = Route(kind: .direct, host: "", port: 0, credential: nil)

        /// Returns a route through an HTTP proxy, to which the transport connects without TLS.
        ///
        /// The credential is sent in clear text.
        ///
        /// - Parameters:
        ///   - host: the name or address of the proxy.
        ///   - port: the port of the proxy, 1 to 65535.
        ///   - credential: the user name and password of the proxy, for Basic; defaults to none.
        /// - Returns: the route.
        public static func http(host: String, port: Int, credential: Credential? = nil) -> Route {
            Route(kind: .http, checked: host, port, credential)
        }

        /// Returns a route through an HTTPS proxy, to which the transport connects over TLS.
        ///
        /// - Parameters:
        ///   - host: the name or address of the proxy, for which its certificate must be valid.
        ///   - port: the port of the proxy, 1 to 65535.
        ///   - credential: the user name and password of the proxy, for Basic; defaults to none.
        /// - Returns: the route.
        public static func https(host: String, port: Int, credential: Credential? = nil) -> Route {
            Route(kind: .https, checked: host, port, credential)
        }

        /// Returns a route through a SOCKS5 proxy, which resolves the name of the server.
        ///
        /// The credential is sent in clear text, if the proxy asks for it.
        ///
        /// - Parameters:
        ///   - host: the name or address of the proxy.
        ///   - port: the port of the proxy, 1 to 65535.
        ///   - credential: the user name and password of the proxy, each with 1 to 255 bytes; defaults to none.
        /// - Returns: the route.
        public static func socks5(host: String, port: Int, credential: Credential? = nil) -> Route {
            Route(kind: .socks5, checked: host, port, credential)
        }
    }

    /// The user name and the password of a proxy.
    ///
    /// Neither its description nor `dump` shows them.
    public struct Credential: Sendable, Hashable {
        /// The user name as the proxy knows it, case-sensitive.
        public var username: String
        /// The password of the user.
        public var password: String

        /// Creates a credential from a user name and a password.
        public init(username: String, password: String) {
            self.username = username
            self.password = password
        }
    }
}

extension AsyncHTTPClientTransport.ProxyPolicy.Route {
    private init(
        kind: Kind,
        checked host: String,
        _ port: Int,
        _ credential: AsyncHTTPClientTransport.ProxyPolicy.Credential?
    ) {
        precondition(!host.isEmpty, "the host of a proxy is empty")
        precondition((1...65_535).contains(port), "the port of a proxy is \(port), not 1 to 65535")
        let isBracketed = host.first == "[" && host.last == "]"
        let name = isBracketed ? String(host.dropFirst().dropLast()) : host
        self.init(kind: kind, host: name, port: port, credential: credential)
    }

    /// Parses the value of an environment variable: `[scheme://][user[:password]@]host[:port]`.
    ///
    /// The user name and password are percent-decoded. The port defaults to 443 for `https` and to 1080 otherwise, as
    /// in curl. Returns `nil` if there is no host, or if the port or the scheme is invalid.
    init?(_ text: String) {
        let separator = text.firstRange(of: "://")
        let kind: Kind
        switch separator.map({ text[..<$0.lowerBound].lowercased() }) {
        case nil, "http": kind = .http
        case "https": kind = .https
        case "socks5", "socks5h": kind = .socks5
        default: return nil
        }
        var authority = (separator.map { text[$0.upperBound...] } ?? text[...]).prefix { !"/?#".contains($0) }
        var credential: AsyncHTTPClientTransport.ProxyPolicy.Credential?
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.removingPercentEncoding ?? String($0) }
            credential = .init(username: parts[0], password: parts.count > 1 ? parts[1] : "")
            authority = authority[authority.index(after: at)...]
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
        guard !authority.isEmpty, let number = Self.number(port, of: kind) else { return nil }
        self.init(kind: kind, host: String(authority), port: number, credential: credential)
    }

    /// Returns the number after the colon.
    private static func number(_ text: Substring, of kind: Kind) -> Int? {
        guard !text.isEmpty, text != ":" else { return kind == .https ? 443 : 1_080 }
        guard text.first == ":", let number = UInt16(text.dropFirst()), number > 0 else { return nil }
        return Int(number)
    }

    /// Whether the credential, if there is one, can be sent to this kind of proxy.
    var hasValidCredential: Bool {
        guard let credential else { return true }
        let parts = [credential.username, credential.password]
        guard kind != .socks5 else { return parts.allSatisfy { (1...255).contains($0.utf8.count) } }
        return !credential.username.contains(":")
            && !parts.contains { $0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
    }
}

extension AsyncHTTPClientTransport.ProxyPolicy.Credential {
    /// The value of Proxy-Authorization for Basic.
    var basicAuthorization: String { "Basic " + Data("\(username):\(password)".utf8).base64EncodedString() }
}

extension AsyncHTTPClientTransport.ProxyPolicy.Route: SafelyDescribed {
    /// The kind, host and port, without the credential.
    public var description: String {
        kind == .direct ? "direct" : "\(kind) proxy \(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension AsyncHTTPClientTransport.ProxyPolicy.Credential: SafelyDescribed {
    /// A fixed text that shows neither the user name nor the password.
    public var description: String { "a proxy credential" }
}
#endif
