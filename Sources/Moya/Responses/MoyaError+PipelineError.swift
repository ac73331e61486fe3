import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension MoyaError {
    /// The failure of a cancelled request.
    static var cancelled: MoyaError { .underlying(URLError(.cancelled), nil) }

    /// The failure of a response whose status the target does not accept.
    static func unaccepted(_ response: Response) -> MoyaError { .underlying(statusCode(response), response) }

    /// Converts an error of the native provider: a failure of the network becomes a `URLError`.
    init(_ error: PipelineError, _ response: Response?) {
        switch error.code {
        case .cancelled:
            self = .cancelled
        case .unacceptableStatus:
            self = response.map(Self.unaccepted) ?? .underlying(error, nil)
        default:
            self = .underlying(Self.urlError(for: error) ?? error, response)
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
