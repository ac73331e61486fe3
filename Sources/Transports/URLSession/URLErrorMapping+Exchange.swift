import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLErrorMapping {
    /// The state of an exchange when it fails.
    struct ExchangeFacts {
        /// Whether the exchange uses TLS.
        var isSecure: Bool
        /// Whether header fields have arrived.
        var hasHead: Bool
        /// Whether Foundation decodes the body.
        var isCoded: Bool
        /// Whether part of the request's body has not been sent.
        var isSending: Bool
    }

    /// Returns the typed error for a failed exchange, without the URL that Foundation includes in its errors.
    static func exchangeError(for error: any Error, _ facts: ExchangeFacts) -> any Error {
        let bridged = error as NSError
        if let (code, reason) = meaningOnApplePlatforms(of: bridged) {
            return PipelineError(code, reason, underlyingError: NSError(domain: bridged.domain, code: bridged.code))
        }
        let stripped = URLError(
            (URLError.Code(rawValue: bridged.code) as URLError.Code?) ?? .unknown,
            userInfo: [NSLocalizedDescriptionKey: bridged.localizedDescription]
        )
        if let (code, reason) = meaningOfTimeout(bridged, facts) {
            return PipelineError(code, reason, underlyingError: stripped)
        }
        #if canImport(FoundationNetworking)
        if let (code, reason) = meaningOnLinux(of: bridged, facts) {
            return PipelineError(code, reason, underlyingError: stripped)
        }
        #endif
        return pipelineError(for: stripped)
    }

    /// Returns the meaning of errors that have another domain than `URLError`, such as after an app was suspended.
    ///
    /// Source: CFNetworkErrors.h, https://developer.apple.com/documentation/cfnetwork/cfnetworkerrors
    private static func meaningOnApplePlatforms(of error: NSError) -> (PipelineError.Code, String)? {
        switch (error.domain, error.code) {
        case (NSPOSIXErrorDomain, Int(ECONNABORTED)), (NSPOSIXErrorDomain, Int(ECONNRESET)),
            (NSPOSIXErrorDomain, Int(ENOTCONN)), (NSPOSIXErrorDomain, Int(EPIPE)):
            (.connectionLost, "the connection ended before the response was complete")
        case ("kCFErrorDomainCFNetwork", 307):
            (.proxy(.authentication), "the proxy did not accept the credential of the system")
        case ("kCFErrorDomainCFNetwork", 306), ("kCFErrorDomainCFNetwork", 308...311):
            (.proxy(.refused), "the proxy opened no connection to the host")
        default:
            nil
        }
    }

    /// Returns the kind of timeout.
    ///
    /// Foundation does not report whether there was a connection.
    private static func meaningOfTimeout(_ error: NSError, _ facts: ExchangeFacts) -> (PipelineError.Code, String)? {
        guard error.code == NSURLErrorTimedOut, !facts.hasHead else { return nil }
        return facts.isSending
            ? (.timeout(.write), "the server took no byte of the body within the transport's idle timeout")
            : (.timeout(.head), "the header fields of the response did not arrive within the transport's idle timeout")
    }

    #if canImport(FoundationNetworking)
    /// Foundation on Linux reports most libcurl failures with code -1; only the text distinguishes them.
    private static func meaningOnLinux(of error: NSError, _ facts: ExchangeFacts) -> (PipelineError.Code, String)? {
        let text = error.localizedDescription
        switch error.code {
        case NSURLErrorBadServerResponse:
            return (.connectionLost, "the connection ended before the response began")
        case NSURLErrorUnsupportedURL:
            return (.malformedResponse, "the response is not HTTP")
        case NSURLErrorUnknown where facts.isSecure && isAboutReading(text):
            return meaningOfReading(text, facts)
        case NSURLErrorUnknown where facts.isSecure && !facts.hasHead && isAboutTLS(text):
            return meaningOfHandshake(text)
        case NSURLErrorUnknown where text.hasPrefix("Failed to connect"):
            return (.connect(.unreachable), "the host could not be reached")
        case NSURLErrorUnknown where text.hasPrefix("Send failure") || text.hasPrefix("Recv failure"):
            return (.connectionLost, "the connection ended before the response was complete")
        case NSURLErrorUnknown where text.hasPrefix("Connection died"):
            return (.connectionLost, "the connection ended before the response began, and so did the retries")
        case NSURLErrorUnknown where text.hasPrefix("HTTP/2 stream") && !facts.hasHead:
            return (.connectionLost, "the connection ended before the response began")
        case NSURLErrorUnknown where text.hasPrefix("transfer closed with") || text.hasPrefix("HTTP/2 stream"):
            return (.truncated, "the connection ended before the body was complete")
        case NSURLErrorUnknown where isAboutCoding(text, facts):
            return (.contentCoding(.corrupt), "the body could not be decoded from its content coding")
        case NSURLErrorUnknown where !facts.hasHead && isAboutHeaderBytes(text):
            return (.limit(.headerBytes), "the header fields are larger than Foundation accepts")
        case NSURLErrorUnknown where isAboutFraming(text) || (!facts.hasHead && isAboutFirstLine(text)):
            return (.malformedResponse, "the response is not HTTP")
        default:
            return nil
        }
    }

    private static func isAboutTLS(_ text: String) -> Bool {
        ["SSL", "TLS", "certificate"].contains { text.contains($0) }
    }

    private static func meaningOfHandshake(_ text: String) -> (PipelineError.Code, String) {
        if text.hasPrefix("SSL certificate problem") {
            return (.tls(.certificate), "the server's certificate is not one to trust")
        }
        if text.contains("target host name") || text.contains("target hostname") {
            return (.tls(.hostName), "the certificate is for another host")
        }
        return (.tls(.handshake), "no secure connection could be made")
    }

    /// Returns whether TLS failed after the handshake.
    private static func isAboutReading(_ text: String) -> Bool {
        text.contains("SSL_read") || text.contains("SSL_write")
    }

    /// With TLS 1.3, a server refuses a client's certificate after the client has finished its part of the handshake.
    private static func meaningOfReading(_ text: String, _ facts: ExchangeFacts) -> (PipelineError.Code, String) {
        if facts.hasHead { return (.truncated, "the connection ended before the body was complete") }
        if text.contains(" alert ") { return (.tls(.handshake), "the server wants another certificate of the client") }
        return (.connectionLost, "the connection ended before the response began")
    }

    private static func isAboutCoding(_ text: String, _ facts: ExchangeFacts) -> Bool {
        if text.contains("content unencoding") || text.contains("content encoding") { return true }
        return facts.isCoded
            && (text.hasPrefix("Failed writing received data") || text.hasPrefix("Unrecognized or bad HTTP Content"))
    }

    private static func isAboutFraming(_ text: String) -> Bool {
        [
            "Failed writing header", "Header without colon", "Nul byte in header", "Invalid Content-Length",
            "chunked-enco",
        ]
        .contains { text.contains($0) }
    }

    private static func isAboutHeaderBytes(_ text: String) -> Bool {
        text == "Out of memory" || text.hasPrefix("Too large response headers")
    }

    /// Returns whether the text is libcurl's error for a folded first field.
    private static func isAboutFirstLine(_ text: String) -> Bool {
        text == "A libcurl function was given a bad argument"
    }
    #endif
}
