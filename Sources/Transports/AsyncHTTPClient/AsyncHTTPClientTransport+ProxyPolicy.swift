#if AsyncHTTPClient
extension AsyncHTTPClientTransport {
    /// The source of a transport's proxies.
    public struct ProxyPolicy: Sendable {
        /// `environment` holds the variables to use, or `nil` for those of the process.
        enum Kind: Sendable {
            case configuration
            case environment(ProxyVariables?)
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
        /// `[http://][user:password@]host[:port]` or `socks5://host[:port]`; the port defaults to 1080. AsyncHTTPClient
        /// opens a CONNECT tunnel, also for http.
        ///
        /// **Errors**: ``/Pipeline/PipelineError/Code-swift.struct/invalidRequest(_:)`` for requests to which a proxy
        /// of another form applies. `invalidRequest.credential` for a request over http to a loopback address if a
        /// proxy applies to it and it carries a credential, a secret header field or a query item whose name sounds
        /// secret. Both errors name the variable, never its value.
        public static let environment = ProxyPolicy(kind: .environment(nil))

        /// Uses variables that a test provides, like ``environment``.
        static func environment(_ variables: ProxyVariables) -> ProxyPolicy {
            ProxyPolicy(kind: .environment(variables))
        }
    }
}
#endif
