public import Foundation
import Synchronization

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Changes the requests of a session before they are sent.
@available(swift, deprecated: 7, message: "Use Stage.Prepare, or closures: .prepare { … }.")
public protocol RequestAdapter: Sendable {
    /// Calls the completion with the request to send in place of the given one, now or later.
    ///
    /// For a file or a form, a body of the request that it passes is ignored. An error ends the call with
    /// ``AFError/requestAdaptationFailed(error:)``, unless a retrier retries.
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    )
}

/// Decides whether a request of a session that has failed is sent again.
@available(swift, deprecated: 7, message: "Use RetryPlugin or TokenRefreshPlugin.")
public protocol RequestRetrier: Sendable {
    /// Calls the completion with the decision, now or later.
    ///
    /// - Parameters:
    ///   - request: what was sent, the response, and the number of retries so far.
    ///   - session: the session.
    ///   - error: an ``AFError``, or a `PipelineError` that has no counterpart in it. A status that the target does not
    ///     accept is an error, too. A cancelled request is not retried.
    ///   - completion: takes the decision. The call waits until then, or until it is cancelled.
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

/// Changes the requests of a session, and decides about retries.
@available(swift, deprecated: 7, message: "Use stages of Pipeline, such as Stage.Prepare, and RetryPlugin.")
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Sends the request unchanged.
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Leaves the failure as it is.
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }
}

/// What happens to a request that has failed.
@available(swift, deprecated: 7, message: "Use RetryPlugin.")
public enum RetryResult: Sendable {
    /// The request is sent again at once.
    case retry
    /// The request is sent again after a delay in seconds, on the provider's clock.
    case retryWithDelay(TimeInterval)
    /// The call fails with the error of the request.
    case doNotRetry
    /// The call fails with ``AFError/requestRetryFailed(retryError:originalError:)``.
    case doNotRetryWithError(any Error)
}

/// A request of a session, as its retrier sees it.
@available(swift, deprecated: 7, message: "Use PipelineRequest and PipelineContext.")
public final class Request: Sendable {
    /// The request and the response of the latest attempt.
    public struct Attempt: Sendable {
        /// The request, as it was adapted.
        public let currentRequest: URLRequest?
        /// The response; `nil` if there was none.
        public let response: URLResponse?
    }

    private struct State {
        var request: URLRequest?
        var response: HTTPURLResponse?
        var retryCount = 0
    }

    private let state = Mutex(State())

    /// The request of the latest attempt, as it was adapted.
    public var request: URLRequest? { state.withLock { $0.request } }

    /// The response of the latest attempt; `nil` if there was none.
    public var response: HTTPURLResponse? { state.withLock { $0.response } }

    /// How often the request was sent again; 0 at first.
    public var retryCount: Int { state.withLock { $0.retryCount } }

    /// The latest attempt, as code for Alamofire reads it: `request.task?.response`.
    public var task: Attempt? {
        state.withLock { Attempt(currentRequest: $0.request, response: $0.response) }
    }

    func end(_ request: URLRequest, _ response: HTTPURLResponse?) {
        state.withLock { state in
            state.request = request
            state.response = response
        }
    }

    func countRetry() {
        state.withLock { $0.retryCount += 1 }
    }
}
