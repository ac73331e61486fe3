#if canImport(Combine) || OpenCombine
import Dispatch
public import PipelineAPI
public import PipelineCore

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension Provider {
    /// Returns a publisher that calls a target.
    ///
    /// It publishes the response and finishes, or fails.
    ///
    /// ```swift
    /// provider.requestPublisher(.book(id: 3))
    ///     .filterSuccessfulStatusCodes()
    ///     .map(Book.self)
    ///     .sink { completion in … } receiveValue: { book in … }
    /// ```
    ///
    /// **Effects**: nothing is sent before a subscriber requests a value. Each subscription makes one call, however
    /// many values it requests. Cancelling the subscription cancels the call; nothing is published after that. The
    /// publisher holds the provider.
    ///
    /// **Errors**: those of `request`. If a call is cancelled in any way other than through the subscription, the
    /// publisher fails with code `PipelineError.Code.cancelled`.
    ///
    /// - Parameters:
    ///   - target: the target to call.
    ///   - options: the options of this call, which take precedence over those of the target.
    ///   - callbackExecutor: the executor on which the publisher publishes; defaults to that of the provider, else to
    ///     the main queue.
    /// - Returns: the publisher.
    public func requestPublisher(
        _ target: Target,
        options: RequestOptions = RequestOptions(),
        callbackExecutor: (any TaskExecutor)? = nil
    ) -> AnyPublisher<PipelineResponse, PipelineError> {
        let executor = publishingExecutor(callbackExecutor)
        return CallPublisher(executor: executor) { receiver in
            let handle = self.request(target, options: options, callbackExecutor: executor) { result in
                if case .success(let response) = result { receiver.send(response) }
                receiver.finish(result.failure)
            }
            return { handle.cancel() }
        }
        .eraseToAnyPublisher()
    }

    /// Returns a publisher that calls a target and reports progress.
    ///
    /// It publishes steps, of which the last has the response, and finishes, or fails.
    ///
    /// **Effects**: same as for ``requestPublisher(_:options:callbackExecutor:)``. Of the steps that the subscriber has
    /// not requested, only the newest is kept, so the last one is never lost.
    ///
    /// - Parameters:
    ///   - target: the target to call.
    ///   - options: the options of this call, which take precedence over those of the target.
    ///   - callbackExecutor: the executor on which the publisher publishes; defaults to that of the provider, else to
    ///     the main queue.
    /// - Returns: the publisher.
    public func requestWithProgressPublisher(
        _ target: Target,
        options: RequestOptions = RequestOptions(),
        callbackExecutor: (any TaskExecutor)? = nil
    ) -> AnyPublisher<ProgressResponse, PipelineError> {
        let executor = publishingExecutor(callbackExecutor)
        return CallPublisher(executor: executor) { receiver in
            let handle = self.request(
                target,
                options: options,
                callbackExecutor: executor,
                progress: receiver.send
            ) { receiver.finish($0.failure) }
            return { handle.cancel() }
        }
        .eraseToAnyPublisher()
    }

    /// The executor on which a publisher publishes.
    ///
    /// Defaults to the main queue, which subscribers written on the main actor need.
    func publishingExecutor(_ executor: (any TaskExecutor)?) -> any TaskExecutor {
        executor ?? callbackExecutor ?? .queue(.main)
    }
}

extension Provider where Target == MultiTarget {
    /// Returns a publisher that calls any target, like
    /// ``/Pipeline/Provider/requestPublisher(_:options:callbackExecutor:)``.
    @_disfavoredOverload
    public func requestPublisher(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions(),
        callbackExecutor: (any TaskExecutor)? = nil
    ) -> AnyPublisher<PipelineResponse, PipelineError> {
        requestPublisher(MultiTarget(target), options: options, callbackExecutor: callbackExecutor)
    }

    /// Returns a publisher that calls any target and reports progress, like
    /// ``/Pipeline/Provider/requestWithProgressPublisher(_:options:callbackExecutor:)``.
    @_disfavoredOverload
    public func requestWithProgressPublisher(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions(),
        callbackExecutor: (any TaskExecutor)? = nil
    ) -> AnyPublisher<ProgressResponse, PipelineError> {
        requestWithProgressPublisher(MultiTarget(target), options: options, callbackExecutor: callbackExecutor)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

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
