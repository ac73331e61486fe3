public import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An error of the network side of a provider, with Alamofire's name and those of its cases that can occur.
@available(swift, deprecated: 7, message: "Use PipelineError.")
public enum AFError: Swift.Error {
    /// Why a response is not accepted.
    public enum ResponseValidationFailureReason: Sendable {
        /// The target does not accept the status.
        case unacceptableStatusCode(code: Int)
    }

    /// The request was cancelled.
    case explicitlyCancelled
    /// A ``RequestAdapter`` failed.
    case requestAdaptationFailed(error: any Swift.Error)
    /// A ``RequestRetrier`` failed; `originalError` is that of the request.
    case requestRetryFailed(retryError: any Swift.Error, originalError: any Swift.Error)
    /// The target does not accept the response.
    case responseValidationFailed(reason: ResponseValidationFailureReason)
    /// The session was invalidated before the request began.
    case sessionInvalidated(error: (any Swift.Error)?)
    /// The exchange failed; the error is a `URLError`.
    case sessionTaskFailed(error: any Swift.Error)
}

extension AFError {
    /// Whether the request was cancelled.
    public var isExplicitlyCancelledError: Bool { if case .explicitlyCancelled = self { true } else { false } }

    /// Whether the response is not accepted.
    public var isResponseValidationError: Bool { if case .responseValidationFailed = self { true } else { false } }

    /// Whether the exchange failed.
    public var isSessionTaskError: Bool { if case .sessionTaskFailed = self { true } else { false } }

    /// The status that is not accepted; `nil` for other errors.
    public var responseCode: Int? {
        guard case .responseValidationFailed(.unacceptableStatusCode(let code)) = self else { return nil }
        return code
    }

    /// The error inside; for a failed retrier, its own.
    public var underlyingError: (any Swift.Error)? {
        switch self {
        case .requestAdaptationFailed(let error), .requestRetryFailed(let error, _), .sessionTaskFailed(let error):
            error
        case .sessionInvalidated(let error): error
        case .explicitlyCancelled, .responseValidationFailed: nil
        }
    }
}

extension AFError: LocalizedError {
    /// A sentence that says what failed.
    public var errorDescription: String? {
        switch self {
        case .explicitlyCancelled: "The request was cancelled."
        case .requestAdaptationFailed(let error):
            "The request could not be adapted. \(error.localizedDescription)"
        case .requestRetryFailed(let error, let original):
            "The request failed: \(original.localizedDescription) It was not retried: \(error.localizedDescription)"
        case .responseValidationFailed(.unacceptableStatusCode(let code)):
            "The response has the status \(code), which is not accepted."
        case .sessionInvalidated: "The session was invalidated before the request."
        case .sessionTaskFailed(let error): error.localizedDescription
        }
    }
}

extension Swift.Error {
    /// The error as an ``AFError``; `nil` if it is another one.
    ///
    /// A ``MoyaError`` is not; look at the error inside ``MoyaError/underlying(_:_:)``.
    @available(swift, deprecated: 7, message: "Use PipelineError.")
    public var asAFError: AFError? { self as? AFError }
}

extension AFError {
    /// Converts an error of the native provider; `nil` for one that has no counterpart.
    init?(_ error: PipelineError) {
        if let error = error.underlyingError as? AFError {
            self = error
            return
        }
        switch error.code {
        case .cancelled: self = .explicitlyCancelled
        case .unacceptableStatus:
            guard let code = error.response?.statusCode else { return nil }
            self = .responseValidationFailed(reason: .unacceptableStatusCode(code: code))
        default:
            guard let error = Self.urlError(for: error) else { return nil }
            self = .sessionTaskFailed(error: error)
        }
    }

    private static func urlError(for error: PipelineError) -> URLError? {
        if let error = error.underlyingError as? URLError { return error }
        let code: URLError.Code
        switch error.code {
        case .offline: code = .notConnectedToInternet
        case .dns: code = .cannotFindHost
        case .connect, .proxy: code = .cannotConnectToHost
        case .timeout: code = .timedOut
        case .connectionLost, .truncated: code = .networkConnectionLost
        case .tls(.certificate), .tls(.hostName), .tls(.pin): code = .serverCertificateUntrusted
        case .tls: code = .secureConnectionFailed
        case .malformedResponse: code = .badServerResponse
        case .redirect: code = .httpTooManyRedirects
        default: return nil
        }
        return URLError(code, userInfo: [NSUnderlyingErrorKey: error])
    }
}
