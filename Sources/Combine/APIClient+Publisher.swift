#if canImport(Combine) || OpenCombine
public import PipelineCore
public import PipelineAPI

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension APIClient {
    /// Returns a publisher that sends an operation, such as a request, a chain or a batch.
    ///
    /// It publishes the value and finishes, or fails.
    ///
    /// ```swift
    /// api.requestPublisher(PostController.list())
    ///     .sink { completion in … } receiveValue: { posts in … }
    /// ```
    ///
    /// **Effects**: nothing is sent before a subscriber requests a value. Each subscription makes its own call, in the
    /// environment that is current at that time. Cancelling the subscription cancels the call; nothing is published
    /// after that.
    ///
    /// **Errors**: those of `send`. If a call is cancelled in any way other than through the subscription, the
    /// publisher fails with code `PipelineError.Code.cancelled`.
    ///
    /// - Parameters:
    ///   - operation: the operation to run.
    ///   - callbackExecutor: the executor on which the publisher publishes; defaults to that of the provider, else to
    ///     the main queue.
    /// - Returns: the publisher.
    public func requestPublisher<Operation: APIOperation>(
        _ operation: Operation,
        callbackExecutor: (any TaskExecutor)? = nil
    ) -> AnyPublisher<Operation.Value, PipelineError> {
        let executor = provider.publishingExecutor(callbackExecutor)
        return CallPublisher(executor: executor) { receiver in
            let handle = self.call(operation)
                .onSuccess { value in
                    receiver.send(value)
                    receiver.finish(nil)
                }
                .onError { receiver.finish($0) }
                .deliver(on: executor)
                .execute()
            return { handle.cancel() }
        }
        .eraseToAnyPublisher()
    }
}
#endif
