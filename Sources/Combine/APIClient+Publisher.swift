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
    /// Returns a publisher of an operation, such as a request, a chain or a batch, which publishes the value and finishes, or
    /// fails.
    ///
    /// ```swift
    /// api.requestPublisher(PostController.list())
    ///     .sink { completion in … } receiveValue: { posts in … }
    /// ```
    ///
    /// **Effects**: nothing is sent before a subscriber requests a value. Each subscription is one call of its own, in the
    /// environment that is current then. Cancelling the subscription cancels the call, and nothing is published after that.
    ///
    /// **Errors**: those of `send`; a call that is cancelled by anything but the subscription fails with code
    /// `PipelineError.Code.cancelled`.
    ///
    /// - Parameters:
    ///   - operation: the operation.
    ///   - callbackQueue: the queue on which the publisher publishes; defaults to the provider's, else the main queue.
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
