#if AsyncHTTPClient
public import PipelineCore

extension AsyncHTTPClientTransport {
    /// The source of a transport's proxies.
    ///
    /// ```swift
    /// let proxy = AsyncHTTPClientTransport.ProxyPolicy.Route.https(
    ///     host: "proxy.example.com",
    ///     port: 3128,
    ///     credential: .init(username: "ann", password: password)
    /// )
    /// let general = AsyncHTTPClientTransport(proxies: .proxy(proxy, except: "10.0.0.0/8,.internal.example.com"))
    /// let byHost = AsyncHTTPClientTransport(proxies: .rules(["*.internal.example.com": .direct, "*": proxy]))
    /// ```
    ///
    /// **Effects**
    ///
    /// - Every request goes through a tunnel, also over http. For https, the proxy sees only the host and the port.
    /// - The transport resolves the name of the proxy, and the proxy that of the server.
    /// - The transport connects to a proxy through a relay of its own on a port of 127.0.0.1, which other processes
    ///   cannot use. The relay is opened with the first request that needs it and closed with the transport.
    /// - The certificate of an HTTPS proxy is always verified, with the versions and authorities of
    ///   `configuration.tlsConfiguration`. The proxy never receives the client certificate of that configuration.
    ///
    /// None of this applies to ``configuration``.
    ///
    /// **Errors**
    ///
    /// | code | when |
    /// |---|---|
    /// | `proxy.authentication` | the proxy requires a user name and a password, or does not accept those that it was given |
    /// | `proxy.refused` | the proxy does not allow the tunnel, could not open it, or does not speak the expected protocol |
    /// | `connect.refused`, `connect.unreachable`, `dns`, `offline`, `timeout.connect` | the proxy could not be reached; or a SOCKS5 proxy reports that the server could not be |
    /// | `tls.certificate`, `tls.hostName`, `tls.handshake` | no secure connection to the proxy could be made |
    /// | `invalidRequest.credential` | a request over http to a loopback address carries a credential (a secret header field or a query item whose name sounds secret), and a proxy would receive it in clear text; or the proxy's own credential cannot be sent |
    /// | `invalidRequest.authority` | the proxy that an environment variable names cannot be used |
    ///
    /// A message says that the failure is that of the proxy.
    ///
    /// **Secrets**: no message contains a credential. Messages name a proxy by its host and port, and one of the
    /// environment by the variable only.
    ///
    /// Source: RFC 9110 §9.3.6 (CONNECT), RFC 7617 (Basic), RFC 1928 (SOCKS5), RFC 1929 (user name and password)
    public struct ProxyPolicy: Sendable {
        /// `environment` holds the variables to use, or `nil` for those of the process.
        enum Kind: Sendable {
            case configuration
            case environment(ProxyVariables?)
            case proxy(Route, ProxyExceptions)
            case rules(HostRules<Route>)
        }

        let kind: Kind

        /// Uses `configuration.proxy` for every request and ignores environment variables.
        public static let configuration = ProxyPolicy(kind: .configuration)

        /// Uses the proxies of the environment variables, as curl does.
        ///
        /// The variables are read when the transport is created.
        ///
        /// | variable | applies to |
        /// |---|---|
        /// | `http_proxy`, in lower case only | requests over http |
        /// | `https_proxy`, `HTTPS_PROXY` | requests over https |
        /// | `all_proxy`, `ALL_PROXY` | requests for which none of these is set |
        /// | `no_proxy`, `NO_PROXY` | hosts that are connected to directly: names with all hosts below them, addresses, networks such as `10.0.0.0/8`, separated by commas; `*` for all |
        ///
        /// If both spellings are set and not empty, the first one is used. A proxy is
        /// `[scheme://][user:password@]host[:port]` with the scheme `http`, `https`, `socks5` or `socks5h`; `http` is
        /// the default. The port defaults to 443 for `https` and to 1080 otherwise. Both SOCKS5 schemes let the proxy
        /// resolve the name of the server, unlike `socks5` in curl.
        public static let environment = ProxyPolicy(kind: .environment(nil))

        /// Uses one proxy.
        ///
        /// - Parameters:
        ///   - route: the proxy.
        ///   - exceptions: the hosts that are connected to directly, as in `NO_PROXY`; defaults to none.
        /// - Returns: the policy.
        public static func proxy(_ route: Route, except exceptions: String = "") -> ProxyPolicy {
            ProxyPolicy(kind: .proxy(route, ProxyExceptions(exceptions)))
        }

        /// Uses the route of the most specific pattern that matches the host; connects directly if none does.
        public static func rules(_ rules: [HostPattern: Route]) -> ProxyPolicy {
            ProxyPolicy(kind: .rules(HostRules(rules)))
        }

        /// Uses variables that a test provides, like ``environment``.
        static func environment(_ variables: ProxyVariables) -> ProxyPolicy {
            ProxyPolicy(kind: .environment(variables))
        }
    }
}
#endif
