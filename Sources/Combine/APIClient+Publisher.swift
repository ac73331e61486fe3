#if canImport(Combine) || OpenCombine
public import Dispatch
public import Pipeline
public import PipelineAPI

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension APIClient {
    /// A request as a publisher: its value, then the end; or the failure.
    ///
    /// A chain, a batch and `withResponse` as well.
    ///
    /// ```swift
    /// api.requestPublisher(PostController.list())
    ///     .sink { completion in … } receiveValue: { posts in … }
    /// ```
    ///
    /// **Effects**: nothing is sent before a subscriber asks for a value. Each subscription is a call of its own, in the environment
    /// that is current then, and makes it once. Cancelling the subscription cancels the call, and nothing is published any more.
    ///
    /// **Errors**: those of `send`; a call that is cancelled by anything but the subscription ends in code
    /// `PipelineError.Code.cancelled`.
    ///
    /// - Parameters:
    ///   - operation: what to run.
    ///   - callbackQueue: where the value and the end are published; default the provider's, else the main queue.
    /// - Returns: the publisher.
    public func requestPublisher<Operation: APIOperation>(
        _ operation: Operation,
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<Operation.Value, PipelineError> {
        let queue = provider.publishingQueue(callbackQueue)
        return CallPublisher(queue: queue) { receiver in
            let handle = self.call(operation)
                .onSuccess { value in
                    receiver.send(value)
                    receiver.finish(nil)
                }
                .onError { receiver.finish($0) }
                .deliver(on: queue)
                .execute()
            return { handle.cancel() }
        }
        .eraseToAnyPublisher()
    }
}
#endif
