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

    /// Creates a route from an address of the environment, or `nil` if its scheme is not supported.
    init?(_ address: ProxyAddress) {
        let kind: Kind
        switch address.scheme {
        case "http": kind = .http
        case "https": kind = .https
        case "socks5", "socks5h": kind = .socks5
        default: return nil
        }
        let credential = address.credential.map {
            AsyncHTTPClientTransport.ProxyPolicy.Credential(username: $0.user, password: $0.password)
        }
        self.init(kind: kind, host: address.host, port: address.port, credential: credential)
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
