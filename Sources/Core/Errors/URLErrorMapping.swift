import Foundation

/// A mapping of Foundation's errors to typed errors, the same for real exchanges and stubs.
package enum URLErrorMapping {
    /// Returns the error that a transport throws for an error of Foundation.
    package static func pipelineError(for error: any Error) -> any Error {
        if error is PipelineError || error is CancellationError { return error }
        let bridged = error as NSError
        guard bridged.domain == NSURLErrorDomain else {
            return PipelineError(.transport, "the network failed", underlyingError: error)
        }
        if bridged.code == NSURLErrorCancelled { return CancellationError() }
        let (code, reason) = meaning(of: URLError.Code(rawValue: bridged.code) as URLError.Code?)
        return PipelineError(code, reason, underlyingError: error)
    }

    private static func meaning(of code: URLError.Code?) -> (PipelineError.Code, String) {
        switch code {
        case .cannotFindHost, .dnsLookupFailed:
            (.dns, "the host's name could not be resolved")
        case .cannotConnectToHost:
            (.connect(.refused), "the host refused the connection")
        case .timedOut:
            (.timeout(.idle), "no byte came within the transport's idle timeout")
        case .networkConnectionLost:
            (.connectionLost, "the connection ended before the response was complete")
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
            (.offline, "there is no network")
        case .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
            .serverCertificateUntrusted:
            (.tls(.certificate), "the server's certificate is not one to trust")
        case .clientCertificateRejected, .clientCertificateRequired:
            (.tls(.handshake), "the server wants another certificate of the client")
        case .secureConnectionFailed, .appTransportSecurityRequiresSecureConnection:
            (.tls(.handshake), "no secure connection could be made")
        case .badServerResponse, .cannotParseResponse:
            (.malformedResponse, "the response is not HTTP")
        case .cannotDecodeContentData, .cannotDecodeRawData:
            (.contentCoding(.corrupt), "the body could not be decoded from its content coding")
        case .fileIsDirectory:
            (.file(.directory), "the file to send is a directory")
        case .fileDoesNotExist, .noPermissionsToReadFile:
            (.file(.unreadable), "the file to send cannot be read")
        case .unsupportedURL, .badURL:
            (.invalidRequest(.url), "the URL cannot be requested")
        default:
            (.transport, "the network failed")
        }
    }
}
