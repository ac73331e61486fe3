#if canImport(Combine) || OpenCombine
public import Dispatch
public import Foundation

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

/// A publisher that sends one request per subscription, when the subscriber first requests a value.
struct MoyaPublisher<Output>: Publisher {
    typealias Failure = MoyaError

    let start: (AnySubscriber<Output, MoyaError>) -> any PipelineMoya.Cancellable

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == MoyaError {
        subscriber.receive(subscription: MoyaSubscription(AnySubscriber(subscriber), start))
    }
}

private final class MoyaSubscription<Output>: Subscription {
    private let lock = NSLock()
    private var subscriber: AnySubscriber<Output, MoyaError>?
    private var start: ((AnySubscriber<Output, MoyaError>) -> any PipelineMoya.Cancellable)?
    private var request: (any PipelineMoya.Cancellable)?

    init(
        _ subscriber: AnySubscriber<Output, MoyaError>,
        _ start: @escaping (AnySubscriber<Output, MoyaError>) -> any PipelineMoya.Cancellable
    ) {
        self.subscriber = subscriber
        self.start = start
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none, let start = lock.withLock({ start.take() }) else { return }
        let own = AnySubscriber<Output, MoyaError>(
            receiveValue: { value in self.lock.withLock { self.subscriber }?.receive(value) ?? .none },
            receiveCompletion: { end in self.lock.withLock { self.subscriber.take() }?.receive(completion: end) }
        )
        let request = start(own)
        let isCancelled = lock.withLock {
            self.request = request
            return subscriber == nil
        }
        if isCancelled { request.cancel() }
    }

    func cancel() {
        let (subscriber, request) = lock.withLock { (self.subscriber.take(), self.request.take()) }
        request?.cancel()
        withExtendedLifetime(subscriber) {}
    }
}

extension Publisher where Output == Response, Failure == MoyaError {
    /// Fails unless the status is in a range, like ``Response/filter(statusCodes:)``.
    public func filter<R: RangeExpression>(statusCodes: R) -> AnyPublisher<Response, MoyaError> where R.Bound == Int {
        mapped { try $0.filter(statusCodes: statusCodes) }
    }

    /// Fails unless the response has the given status.
    public func filter(statusCode: Int) -> AnyPublisher<Response, MoyaError> {
        mapped { try $0.filter(statusCode: statusCode) }
    }

    /// Fails unless the status is 200 to 299.
    public func filterSuccessfulStatusCodes() -> AnyPublisher<Response, MoyaError> {
        mapped { try $0.filterSuccessfulStatusCodes() }
    }

    /// Fails unless the status is 200 to 399.
    public func filterSuccessfulStatusAndRedirectCodes() -> AnyPublisher<Response, MoyaError> {
        mapped { try $0.filterSuccessfulStatusAndRedirectCodes() }
    }

    /// Publishes the body as JSON, like ``Response/mapJSON(failsOnEmptyData:)``.
    public func mapJSON(failsOnEmptyData: Bool = true) -> AnyPublisher<Any, MoyaError> {
        mapped { try $0.mapJSON(failsOnEmptyData: failsOnEmptyData) }
    }

    /// Publishes the body as text, like ``Response/mapString(atKeyPath:)``.
    public func mapString(atKeyPath keyPath: String? = nil) -> AnyPublisher<String, MoyaError> {
        mapped { try $0.mapString(atKeyPath: keyPath) }
    }

    /// Publishes the decoded body, like ``Response/map(_:atKeyPath:using:failsOnEmptyData:)``.
    public func map<D: Decodable>(
        _ type: D.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) -> AnyPublisher<D, MoyaError> {
        mapped { try $0.map(type, atKeyPath: keyPath, using: decoder, failsOnEmptyData: failsOnEmptyData) }
    }

    #if canImport(UIKit) || canImport(AppKit)
    /// Publishes the body as an image.
    public func mapImage() -> AnyPublisher<Image, MoyaError> {
        mapped { try $0.mapImage() }
    }
    #endif

    private func mapped<Value>(_ transform: @escaping (Response) throws -> Value) -> AnyPublisher<Value, MoyaError> {
        tryMap(transform)
            .mapError { $0 as? MoyaError ?? .underlying($0, nil) }
            .eraseToAnyPublisher()
    }
}

extension Publisher where Output == ProgressResponse, Failure == MoyaError {
    /// Publishes the response of the last step.
    public func filterCompleted() -> AnyPublisher<Response, MoyaError> {
        compactMap(\.response).eraseToAnyPublisher()
    }

    /// Publishes the progress of all steps but the last.
    public func filterProgress() -> AnyPublisher<Double, MoyaError> {
        filter { !$0.completed }.map(\.progress).eraseToAnyPublisher()
    }
}
#endif
