import Foundation
import HTTPTypes
import PipelineCore

/// The environment variables that name proxies, read as curl reads them.
///
/// An `http` request uses `http_proxy`, in lower case only: in a CGI program, `HTTP_PROXY` holds the Proxy field of a
/// request. An `https` request uses `https_proxy`, then `HTTPS_PROXY`. Both fall back to `all_proxy`, then `ALL_PROXY`.
/// An empty variable counts as unset.
///
/// Source: https://everything.curl.dev/usingcurl/proxies/env.html
struct ProxyVariables: Sendable, Equatable {
    /// A variable that applies to a request.
    struct Setting: Sendable, Hashable {
        let variable: String
        let value: String
    }

    private let values: [String: String]

    init(_ values: [String: String]) {
        self.values = values.filter { !$0.value.isEmpty }
    }

    /// The current variables of this process.
    static var ofProcess: ProxyVariables {
        var values: [String: String] = [:]
        for name in names {
            if let value = getenv(name) { values[name] = String(cString: value) }
        }
        return ProxyVariables(values)
    }

    /// Returns the proxy for all hosts except those that `no_proxy` exempts.
    func setting(forScheme scheme: String) -> Setting? {
        first(of: (scheme == "https" ? Self.secureNames : Self.plainNames) + Self.commonNames)
    }

    /// Returns the proxy for a host, or `nil` if none applies.
    ///
    /// - Parameters:
    ///   - scheme: `http` or `https`.
    ///   - authority: the host, with or without a port.
    ///   - isForCurl: whether curl chooses the proxy, which ignores exceptions with ports or brackets.
    /// - Returns: the variable and its value.
    func setting(forScheme scheme: String, authority: String, isForCurl: Bool = true) -> Setting? {
        guard let setting = setting(forScheme: scheme) else { return nil }
        let exceptions = first(of: Self.exceptionNames).map { ProxyExceptions($0.value) }
        let port = isForCurl ? nil : Self.port(of: authority, scheme)
        return exceptions?.contains(Self.host(of: authority), port: port) == true ? nil : setting
    }

    /// Returns an error if a proxy would receive a credential in clear text.
    ///
    /// A credential over `http` to a loopback address is otherwise considered safe.
    ///
    /// The variables are read only for such a request.
    static func failure(of request: PipelineRequest, _ variables: () -> ProxyVariables) -> PipelineError? {
        guard request.head.scheme == "http", let authority = request.loopbackAuthority, request.carriesCredential else {
            return nil
        }
        let variables = variables()
        guard let setting = variables.setting(forScheme: "http", authority: authority) else { return nil }
        let exceptions = variables.first(of: exceptionNames)?.variable ?? "NO_PROXY"
        return PipelineError(
            .invalidRequest(.credential),
            """
            the environment variable \(setting.variable) would send the credential of a loopback request to a proxy in clear text; \
            add \(host(of: authority)) to \(exceptions), for example \(exceptions)=127.0.0.1,localhost
            """
        )
    }

    private func first(of names: [String]) -> Setting? {
        for name in names {
            if let value = values[name] { return Setting(variable: name, value: value) }
        }
        return nil
    }

    /// Returns the host of an authority to which rules apply: without a user name, a port, brackets and
    /// percent-encoding, which a network library would decode.
    static func host(of authority: String) -> String {
        let bytes = authority.utf8.split(separator: UInt8(ascii: "@")).last ?? authority.utf8[...]
        let host =
            bytes.first == UInt8(ascii: "[")
            ? bytes.prefix { $0 != UInt8(ascii: "]") }.dropFirst()
            : bytes.prefix { $0 != UInt8(ascii: ":") }
        let text = String(Substring(host))
        return text.removingPercentEncoding ?? text
    }

    /// Returns the port of an authority; defaults to that of the scheme.
    static func port(of authority: String, _ scheme: String) -> Int {
        let end = authority.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last
        return end.flatMap { Int(Substring($0)) } ?? (scheme == "https" ? 443 : 80)
    }

    private static let plainNames = ["http_proxy"]
    private static let secureNames = ["https_proxy", "HTTPS_PROXY"]
    private static let commonNames = ["all_proxy", "ALL_PROXY"]
    private static let exceptionNames = ["no_proxy", "NO_PROXY"]
    private static let names = plainNames + secureNames + commonNames + exceptionNames
}
