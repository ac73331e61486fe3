#if AsyncHTTPClient
extension AsyncHTTPClientTransport {
    /// Where the proxies of a transport come from.
    public struct ProxyPolicy: Sendable {
        /// The variables to obey, `nil` for those of the process.
        enum Kind: Sendable {
            case configuration
            case environment(ProxyVariables?)
        }

        let kind: Kind

        /// `configuration.proxy` is used for every request, and environment variables change nothing.
        public static let configuration = ProxyPolicy(kind: .configuration)

        /// The environment variables are used as curl uses them; they are read when the transport is made.
        ///
        /// | variable | applies to |
        /// |---|---|
        /// | `http_proxy`, in lower case only | requests over http |
        /// | `https_proxy`, `HTTPS_PROXY` | requests over https |
        /// | `all_proxy`, `ALL_PROXY` | requests for which none of these is set |
        /// | `no_proxy`, `NO_PROXY` | hosts that are connected to directly: names with all hosts below them, addresses, networks such as `10.0.0.0/8`, separated by commas; `*` for all |
        ///
        /// Of two spellings the first that is set and not empty counts. A proxy is `[http://][user:password@]host[:port]` or
        /// `socks5://host[:port]`, with port 1080 unless it says otherwise. AsyncHTTPClient opens a tunnel with CONNECT, over http as well.
        ///
        /// **Errors**: ``PipelineError/Code-swift.struct/invalidRequest(_:)`` for requests to which a proxy of another form applies.
        /// `invalidRequest.credential` for a request over http to a loopback address that carries a credential, a secret header field or a
        /// query item whose name sounds secret, if a proxy applies to it. Both name the variable, never its value.
        public static let environment = ProxyPolicy(kind: .environment(nil))

        /// As ``environment``, with variables that a test has made.
        static func environment(_ variables: ProxyVariables) -> ProxyPolicy {
            ProxyPolicy(kind: .environment(variables))
        }
    }
}
#endif
