#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PipelineCore

/// The mapping from errors of AsyncHTTPClient, NIO and BoringSSL to typed errors.
enum AsyncHTTPClientErrorMapping {
    /// The phase in which an exchange failed.
    enum Phase: Equatable {
        /// Before the header fields arrived. If `isHandshakeKnown` is `true`, errors on established connections are
        /// marked, and an unmarked error belongs to the TLS handshake.
        case head(isHandshakeKnown: Bool)
        /// While the body was read.
        case body
    }

    static func pipelineError(
        for error: any Error,
        _ phase: Phase,
        of client: AsyncHTTPClientHandle
    ) -> any Error {
        if error is PipelineError || error is CancellationError { return error }
        if Task.isCancelled { return CancellationError() }
        if client.relay != nil, client.isShutDown {
            // The shutdown also ends the connections of the relay.
            return PipelineError(.clientClosed, "the client was shut down", underlyingError: error)
        }
        // AsyncHTTPClient also throws `cancelled` for a request that it hands to an HTTP/2 connection that is about to
        // close.
        let isLost = (error as? HTTPClientError) == .cancelled && !client.isShutDown
        let (code, reason) = isLost ? lost(phase) : meaning(of: error, phase)
        let cause = (error as? AsyncHTTPClientConnections.Failure)?.cause ?? error
        return PipelineError(code, reason, underlyingError: cause)
    }

    /// Returns the code of a failure to connect to a proxy, including the TLS handshake with it.
    static func code(of error: any Error) -> PipelineError.Code {
        meaning(of: error, .head(isHandshakeKnown: true)).0
    }

    typealias Meaning = (PipelineError.Code, String)

    private static func meaning(of error: any Error, _ phase: Phase) -> Meaning {
        switch error {
        case let error as HTTPClientError: meaning(of: error, phase)
        case let error as NIOConnectionError: meaning(of: error)
        case let error as HTTPParserError: meaning(of: error, phase)
        case let error as AsyncHTTPClientConnections.Failure: meaningOfHTTP2(error.cause, phase) ?? reset
        case let error as IOError: meaning(of: error, phase)
        case ChannelError.connectTimeout: connectTimeout
        case is ChannelError: lost(phase)
        case let error as NIOSSLExtraError where error == .failedToValidateHostname: wrongHost
        case is NIOSSLExtraError: handshake
        case WeakCertificate.key(let bitCount):
            (
                .tls(.certificate),
                "the server's RSA key has \(bitCount) bits, not \(WeakCertificate.minimumBitCount) or more"
            )
        case is WeakCertificate: (.tls(.certificate), "the server's certificate is signed with SHA-1 or MD5")
        case let error as NIOSSLError: meaning(of: error, phase)
        case let error as BoringSSLError: meaning(of: error, phase)
        default: meaningOfHTTP2(error, phase) ?? (.transport, "the network failed")
        }
    }

    private static func meaning(of error: HTTPClientError, _ phase: Phase) -> Meaning {
        switch error {
        case .getConnectionFromPoolTimeout:
            // AsyncHTTPClient throws this only if it has connections to the host.
            (
                .timeout(.pool),
                "all connections to the host stayed busy for configuration.timeout.connect; allow more with connectionsPerHost"
            )
        case .connectTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            connectTimeout
        case .readTimeout where phase == .body:
            (.timeout(.idle), "no byte of the body came within the transport's timeout")
        case .readTimeout, .deadlineExceeded:
            (.timeout(.head), "the header fields of the response did not arrive in time")
        case .writeTimeout:
            (.timeout(.write), "the server took no byte of the body within the transport's timeout")
        case .remoteConnectionClosed:
            lost(phase)
        case .uncleanShutdown:
            (.truncated, "the connection ended before the body was complete")
        case .alreadyShutdown, .cancelled:
            (.clientClosed, "the client was shut down")
        case .proxyAuthenticationRequired:
            (.proxy(.authentication), "the proxy requires a user name and a password, or other ones")
        case .invalidProxyResponse:
            (.proxy(.refused), "the proxy opened no tunnel to the host")
        case .bodyLengthMismatch:
            (.bodyChanged, "the body does not have the length that it announced")
        case .traceRequestWithBody:
            (.invalidRequest(.body), "a request with TRACE has no body")
        case .invalidURL, .emptyHost, .emptyScheme:
            (.invalidRequest(.url), "the URL cannot be requested")
        default:
            (.transport, "the network failed")
        }
    }

    private static func meaning(of error: NIOConnectionError) -> Meaning {
        guard !error.connectionErrors.isEmpty else { return (.dns, "the host's name could not be resolved") }
        var meanings = error.connectionErrors.map { meaning(of: $0.error) }
        meanings.sort { rank($0.0) < rank($1.0) }
        return meanings[0]
    }

    private static func meaning(of error: any Error) -> Meaning {
        switch error {
        case ChannelError.connectTimeout: connectTimeout
        case let error as IOError where error.errnoCode == ECONNREFUSED:
            (.connect(.refused), "the host refused the connection")
        case let error as IOError where error.errnoCode == ENETUNREACH: offline
        default: (.connect(.unreachable), "the host could not be reached")
        }
    }

    /// Ranks errors: of several addresses of a host, the error of the attempt that got furthest is the most useful.
    private static func rank(_ code: PipelineError.Code) -> Int {
        switch code {
        case .connect(.refused): 0
        case .timeout: 1
        case .offline: 3
        default: 2
        }
    }

    private static func meaning(of error: HTTPParserError, _ phase: Phase) -> Meaning {
        switch error {
        case .invalidEOFState: lost(phase)
        case .headerOverflow: (.limit(.headerBytes), "the header fields are larger than a connection accepts")
        default: (.malformedResponse, "the response is not HTTP")
        }
    }

    private static func meaning(of error: IOError, _ phase: Phase) -> Meaning {
        switch error.errnoCode {
        case ECONNREFUSED: (.connect(.refused), "the host refused the connection")
        case ENETUNREACH: offline
        case EHOSTUNREACH, EADDRNOTAVAIL: (.connect(.unreachable), "the host could not be reached")
        case ETIMEDOUT: connectTimeout
        case _ where phase == .head(isHandshakeKnown: true): handshake
        default: reset
        }
    }

    private static func meaning(of error: NIOSSLError, _ phase: Phase) -> Meaning {
        switch error {
        case .handshakeFailed(let cause): "\(cause)".contains("CERTIFICATE_VERIFY_FAILED") ? certificate : handshake
        case .uncleanShutdown where phase == .body:
            (.truncated, "the connection ended before the body was complete")
        case .uncleanShutdown: lost(phase)
        default: handshake
        }
    }

    /// Returns the meaning of a TLS error on an established connection.
    ///
    /// With TLS 1.3, the client has finished its part of the handshake before the server checks its certificate. A
    /// refusal therefore arrives as an alert instead of a response.
    private static func meaning(of error: BoringSSLError, _ phase: Phase) -> Meaning {
        guard phase != .body, "\(error)".contains("_ALERT_") else { return lost(phase) }
        return handshake
    }

    static func lost(_ phase: Phase) -> Meaning {
        switch phase {
        case .head: (.connectionLost, "the connection ended before the response began")
        case .body: (.truncated, "the connection ended before the body was complete")
        }
    }

    private static let offline: Meaning = (.offline, "the machine has no route to the host")
    private static let connectTimeout: Meaning = (.timeout(.connect), "no connection was made in time")
    private static let reset: Meaning = (.connectionLost, "the connection ended before the response was complete")
    private static let certificate: Meaning = (.tls(.certificate), "the server's certificate is not one to trust")
    private static let handshake: Meaning = (.tls(.handshake), "no secure connection could be made")
    private static let wrongHost: Meaning = (.tls(.hostName), "the certificate is for another host")
}
#endif
