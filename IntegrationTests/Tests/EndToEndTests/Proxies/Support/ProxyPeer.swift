import AsyncHTTPClient
import Foundation
import NIOSSL
import PipelineTransports
import Testing

/// The proxies that `scripts/proxies` starts; the script documents each of them.
enum ProxyPeer: String, CaseIterable, CustomTestStringConvertible {
    case tinyproxy = "TINYPROXY"
    case squid = "SQUID"
    case squidTLS = "SQUID_TLS"
    case dante = "DANTE"
    case microsocks = "MICROSOCKS"

    typealias Policy = AsyncHTTPClientTransport.ProxyPolicy

    /// The peers that require a credential.
    static let guarded = allCases.filter { $0 != .dante }

    /// The certificate of the authority of the HTTPS proxy, or `nil` in a plain `swift test`.
    static let authority = value("CA")
    static let user = value("USER") ?? ""
    static let password = value("PASSWORD") ?? ""
    static let credential = Policy.Credential(username: user, password: password)

    var testDescription: String { rawValue.lowercased() }
    var port: Int { Self.port(of: rawValue) }

    /// The port of any proxy of the script.
    static func port(of name: String) -> Int { value(name).flatMap { Int($0) } ?? 1 }

    /// The proxy as an environment variable names it.
    var url: String {
        let scheme =
            switch self {
            case .tinyproxy, .squid: "http"
            case .squidTLS: "https"
            case .dante: "socks5"
            case .microsocks: "socks5h"
            }
        let user = self == .dante ? "" : "\(Self.user):\(Self.password)@"
        return "\(scheme)://\(user)localhost:\(port)"
    }

    func route(_ credential: Policy.Credential? = credential, host: String = "localhost") -> Policy.Route {
        switch self {
        case .tinyproxy, .squid: .http(host: host, port: port, credential: credential)
        case .squidTLS: .https(host: host, port: port, credential: credential)
        case .dante, .microsocks: .socks5(host: host, port: port, credential: credential)
        }
    }

    /// A transport that trusts the authorities of the servers and of the HTTPS proxy.
    static func makeTransport(_ policy: Policy, trust: TrustPolicy = .system) throws -> AsyncHTTPClientTransport {
        var configuration = try SecureTransport.makeConfiguration()
        configuration.tlsConfiguration?.additionalTrustRoots = [.file(try #require(authority))]
        return AsyncHTTPClientTransport(configuration: configuration, proxies: policy, trust: trust)
    }

    private static func value(_ name: String) -> String? {
        ProcessInfo.processInfo.environment["PROXY_" + name]
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs a suite only if there are proxies and TLS servers.
    static var besideProxies: Self {
        .enabled(
            if: ProxyPeer.authority != nil && TLSServers.authority != nil,
            "scripts/proxies sets PROXY_CA, and scripts/tls-servers TLS_CA"
        )
    }
}
