#if canImport(Combine) || OpenCombine
import Foundation

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

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
#endif
