#if canImport(Combine) || OpenCombine
public import Dispatch
import Foundation

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension MoyaProvider {
    /// Returns a publisher that sends a target for each subscription and publishes the response.
    ///
    /// Cancelling the subscription cancels the request; nothing is published after that.
    public func requestPublisher(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<Response, MoyaError> {
        MoyaPublisher { subscriber in
            self.request(target, callbackQueue: callbackQueue) { result in
                switch result {
                case .success(let response):
                    _ = subscriber.receive(response)
                    subscriber.receive(completion: .finished)
                case .failure(let error):
                    subscriber.receive(completion: .failure(error))
                }
            }
        }
        .eraseToAnyPublisher()
    }

    /// Returns a publisher that sends a target for each subscription and publishes its progress; the last step has the
    /// response.
    public func requestWithProgressPublisher(
        _ target: Target,
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<ProgressResponse, MoyaError> {
        MoyaPublisher<ProgressResponse> { subscriber in
            self.request(target, callbackQueue: callbackQueue, progress: { _ = subscriber.receive($0) }) { result in
                switch result {
                case .success: subscriber.receive(completion: .finished)
                case .failure(let error): subscriber.receive(completion: .failure(error))
                }
            }
        }
        .scan(ProgressResponse()) { last, step in
            ProgressResponse(
                progress: step.progressObject ?? last.progressObject,
                response: step.response ?? last.response
            )
        }
        .eraseToAnyPublisher()
    }
}
#endif
