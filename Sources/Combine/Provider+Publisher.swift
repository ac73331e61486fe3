#if canImport(Combine) || OpenCombine
public import Dispatch
public import Pipeline

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension Provider {
    /// Returns a publisher of a call, which publishes the response and finishes, or fails.
    ///
    /// ```swift
    /// provider.requestPublisher(.book(id: 3))
    ///     .filterSuccessfulStatusCodes()
    ///     .map(Book.self)
    ///     .sink { completion in … } receiveValue: { book in … }
    /// ```
    ///
    /// **Effects**: nothing is sent before a subscriber requests a value. Each subscription is one call of its own, however many
    /// values it requests. Cancelling the subscription cancels the call, and nothing is published after that. The publisher
    /// holds the provider.
    ///
    /// **Errors**: those of `request`; a call that is cancelled by anything but the subscription fails with code
    /// `PipelineError.Code.cancelled`.
    ///
    /// - Parameters:
    ///   - target: the target.
    ///   - options: options of this call; they win over the target's own.
    ///   - callbackQueue: the queue on which the publisher publishes; defaults to the provider's, else the main queue.
    /// - Returns: the publisher.
    public func requestPublisher(
        _ target: Target,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<PipelineResponse, PipelineError> {
        let queue = publishingQueue(callbackQueue)
        return CallPublisher(queue: queue) { receiver in
            let handle = self.request(target, options: options, callbackQueue: queue) { result in
                if case .success(let response) = result { receiver.send(response) }
                receiver.finish(result.failure)
            }
            return { handle.cancel() }
        }
        .eraseToAnyPublisher()
    }

    /// Returns a publisher of a call's progress, which publishes steps, the last with the response, and finishes, or fails.
    ///
    /// **Effects**: as ``requestPublisher(_:options:callbackQueue:)``. Of the steps that the subscriber has not requested, only
    /// the newest is kept, so the last one is never missed.
    ///
    /// - Parameters:
    ///   - target: the target.
    ///   - options: options of this call; they win over the target's own.
    ///   - callbackQueue: the queue on which the publisher publishes; defaults to the provider's, else the main queue.
    /// - Returns: the publisher.
    public func requestWithProgressPublisher(
        _ target: Target,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<ProgressResponse, PipelineError> {
        let queue = publishingQueue(callbackQueue)
        return CallPublisher(queue: queue) { receiver in
            let handle = self.request(
                target,
                options: options,
                callbackQueue: queue,
                progress: receiver.send
            ) { receiver.finish($0.failure) }
            return { handle.cancel() }
        }
        .eraseToAnyPublisher()
    }

    /// The queue on which a publisher publishes; subscribers that are written on the main actor must run there.
    func publishingQueue(_ queue: DispatchQueue?) -> DispatchQueue { queue ?? callbackQueue ?? .main }
}

extension Provider where Target == MultiTarget {
    /// Returns a publisher of a call of any target, as ``Pipeline/Provider/requestPublisher(_:options:callbackQueue:)``.
    @_disfavoredOverload
    public func requestPublisher(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<PipelineResponse, PipelineError> {
        requestPublisher(MultiTarget(target), options: options, callbackQueue: callbackQueue)
    }

    /// Returns a publisher of the progress of a call of any target, as
    /// ``Pipeline/Provider/requestWithProgressPublisher(_:options:callbackQueue:)``.
    @_disfavoredOverload
    public func requestWithProgressPublisher(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<ProgressResponse, PipelineError> {
        requestWithProgressPublisher(MultiTarget(target), options: options, callbackQueue: callbackQueue)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
#endif
