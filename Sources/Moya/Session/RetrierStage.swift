import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Asks the retrier of a session about each failure, outside all plugins, so that each retry prepares the request anew.
struct RetrierStage: Stage.Intercept {
    let retrier: any RequestInterceptor

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard let call = context.options[CurrentMoyaCall.self] else { return try await next(request) }
        let attempts = Request()
        while true {
            let outcome: Result<PipelineResponse, PipelineError>
            do {
                outcome = .success(try await next(request))
            } catch let error as PipelineError where error.code != .cancelled {
                outcome = .failure(error)
            }
            let response = (try? outcome.get()) ?? outcome.failure?.response
            guard let failure = Self.failure(outcome, context) else { return try outcome.get() }
            attempts.end(call.request, response?.httpURLResponse)
            switch try await retrier.decision(about: attempts, call.session, failure) {
            case .doNotRetry: return try outcome.get()
            case .doNotRetryWithError(let error):
                throw PipelineError(
                    .plugin,
                    "the retrier of the session failed",
                    response: response,
                    underlyingError: AFError.requestRetryFailed(retryError: error, originalError: failure)
                )
            case .retry: break
            case .retryWithDelay(let seconds):
                // NaN counts as zero.
                let delay = Duration.seconds(seconds > 0 ? min(seconds, 1e9) : 0)
                try await context.clock.sleep(until: context.clock.now.advanced(by: delay))
            }
            attempts.countRetry()
        }
    }

    /// Returns the error that the retrier is asked about; `nil` for a response that the target accepts.
    private static func failure(
        _ outcome: Result<PipelineResponse, PipelineError>,
        _ context: PipelineContext
    ) -> (any Error)? {
        switch outcome {
        case .failure(let error): return AFError(error) ?? error
        case .success(let response):
            let code = response.statusCode
            return context.validationType.accepts(code)
                ? nil : AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: code))
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension RequestInterceptor {
    /// Returns the request that the adapter makes.
    func adapted(_ request: URLRequest, _ session: Session) async throws -> URLRequest {
        do {
            return try await completed { adapt(request, for: session, completion: $0) }.get()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw AFError.requestAdaptationFailed(error: error)
        }
    }

    /// Returns what the retrier decides.
    fileprivate func decision(
        about request: Request,
        _ session: Session,
        _ error: any Error
    ) async throws -> RetryResult {
        try await completed { retry(request, for: session, dueTo: error, completion: $0) }
    }
}

/// Returns what a function passes to its completion first.
///
/// - Throws: `CancellationError` if the task is cancelled before.
private func completed<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) async throws -> Value {
    let (values, continuation) = AsyncStream<Value>.makeStream()
    start { value in
        continuation.yield(value)
        continuation.finish()
    }
    for await value in values { return value }
    throw CancellationError()
}
