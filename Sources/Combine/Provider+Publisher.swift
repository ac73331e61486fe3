#if canImport(Combine) || OpenCombine
public import Dispatch
public import Pipeline

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension Provider {
    /// A call as a publisher: the response, then the end; or the failure.
    ///
    /// ```swift
    /// provider.requestPublisher(.book(id: 3))
    ///     .filterSuccessfulStatusCodes()
    ///     .map(Book.self)
    ///     .sink { completion in … } receiveValue: { book in … }
    /// ```
    ///
    /// **Effects**: nothing is sent before a subscriber asks for a value. Each subscription is a call of its own and makes it
    /// once, however often it asks. Cancelling the subscription cancels the call, and nothing is published any more. The
    /// publisher holds the provider.
    ///
    /// **Errors**: those of `request`; a call that is cancelled by anything but the subscription ends in code
    /// `PipelineError.Code.cancelled`.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - options: settings of this call; they win over the target's own.
    ///   - callbackQueue: where values and the end are published; default the provider's, else the main queue.
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

    /// A call as a publisher of how far it has come: steps, the last with the response, then the end; or the failure.
    ///
    /// **Effects**: as ``requestPublisher(_:options:callbackQueue:)``. Of steps that the subscriber has not asked for only the
    /// newest is kept, so that the last is never missed; it is published when it is asked for.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - options: settings of this call; they win over the target's own.
    ///   - callbackQueue: where steps and the end are published; default the provider's, else the main queue.
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

    /// Where a publisher publishes: subscribers that are written on the main actor are checked to run there.
    func publishingQueue(_ queue: DispatchQueue?) -> DispatchQueue { queue ?? callbackQueue ?? .main }
}

extension Provider where Target == MultiTarget {
    /// A call of any target as a publisher, as ``Pipeline/Provider/requestPublisher(_:options:callbackQueue:)``.
    @_disfavoredOverload
    public func requestPublisher(
        _ target: some TargetType,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil
    ) -> AnyPublisher<PipelineResponse, PipelineError> {
        requestPublisher(MultiTarget(target), options: options, callbackQueue: callbackQueue)
    }

    /// A call of any target as a publisher of how far it has come, as
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
