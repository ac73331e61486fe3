#if AsyncHTTPClient
import PipelineCore

/// Why a proxy has opened no tunnel.
enum ProxyFault: Error, Sendable, Equatable {
    /// The proxy requires a credential, or another one.
    case authentication
    /// The proxy responded to CONNECT with this status.
    case status(Int)
    /// The proxy responded to a SOCKS5 request with this code.
    case reply(UInt8)
    /// The response is not one of the protocol.
    case malformed
    /// The proxy closed the connection during the handshake.
    case closed
    /// The connection to the proxy could not be made, with the code that says why.
    case connection(PipelineError.Code)

    /// Returns the error for a request; the message calls the proxy by the given name, which has no credential.
    func error(from proxy: String) -> PipelineError {
        let (code, reason): (PipelineError.Code, String) =
            switch self {
            case .authentication:
                (.proxy(.authentication), "\(proxy) requires a user name and a password, or other ones")
            case .status(let status):
                (.proxy(.refused), "\(proxy) opened no tunnel to the host; it responded with status \(status)")
            case .reply(let code): Self.meaning(of: code, proxy)
            case .malformed: (.proxy(.refused), "\(proxy) does not speak the protocol that is set for it")
            case .closed: (.proxy(.refused), "\(proxy) closed the connection before it opened a tunnel")
            case .connection(let code): (code, Self.reason(for: code, proxy))
            }
        return PipelineError(code, reason)
    }

    /// Returns the meaning of a reply of a SOCKS5 proxy (RFC 1928 §6).
    private static func meaning(of reply: UInt8, _ proxy: String) -> (PipelineError.Code, String) {
        switch reply {
        case 3, 4, 6: (.connect(.unreachable), "\(proxy) could not reach the host")
        case 5: (.connect(.refused), "\(proxy) reports that the host refused the connection")
        case 2: (.proxy(.refused), "\(proxy) does not allow connections to the host")
        default: (.proxy(.refused), "\(proxy) opened no tunnel to the host; it replied with code \(reply)")
        }
    }

    private static func reason(for code: PipelineError.Code, _ proxy: String) -> String {
        switch code {
        case .connect(.refused): "\(proxy) refused the connection"
        case .dns: "the host name of \(proxy) could not be resolved"
        case .offline: "the machine has no route to \(proxy)"
        case .timeout: "no connection to \(proxy) was made in time"
        case .tls(.certificate): "the certificate of \(proxy) is not one to trust"
        case .tls(.hostName): "the certificate of \(proxy) is for another host"
        case .tls: "no secure connection to \(proxy) could be made"
        default: "\(proxy) could not be reached"
        }
    }
}
#endif
