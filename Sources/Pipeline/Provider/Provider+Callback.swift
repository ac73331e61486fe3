public import Dispatch

extension Provider {
    /// Sends a target and calls back.
    ///
    /// The completion is called exactly once and never before this method has returned. One that belongs to an actor, as a closure
    /// written in a view belongs to the main actor, runs there; any other on `callbackQueue`, else on the provider's, else on a
    /// background executor, where it must not block its thread. A call that is cancelled before it has completed completes with code
    /// ``PipelineError/Code-swift.struct/cancelled``, also when its answer was there already, and tells of no progress then.
    ///
    /// Progress is called there too, step by step, and not after the completion. Of a call that succeeds the last step has the
    /// response; a call that fails just ends.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - options: settings of this call; they win over the target's own.
    ///   - callbackQueue: where progress and completion run that belong to no actor.
    ///   - progress: gets the steps, as `requestWithProgress(_:options:)` gives them.
    ///   - completion: gets the outcome.
    /// - Returns: the task of the call. Cancelling it cancels the call, whose completion still runs, once. Its `value` returns
    ///   when the last callback has run. Dropping the task does not cancel the call.
    @discardableResult
    public func request(
        _ target: Target,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil,
        @_inheritActorContext progress: (@isolated(any) @Sendable (ProgressResponse) -> Void)? = nil,
        @_inheritActorContext completion:
            @escaping @isolated(any) @Sendable (Result<PipelineResponse, PipelineError>) -> Void
    ) -> Task<Void, Never> {
        let place = CallbackPlace(queue: callbackQueue ?? self.callbackQueue)
        return deliver(on: callbackQueue, completion) {
            guard let progress else { return await self.perform(target, options, isStreaming: false).finished() }
            return await self.perform(target, options) { step in
                await place.run(isolatedTo: progress.isolation, unless: { Task.isCancelled }) { await progress(step) }
            }
        }
    }

    /// Runs the work in a task of its own and hands its outcome over, once.
    func deliver<Value: Sendable>(
        on callbackQueue: DispatchQueue?,
        _ completion: @escaping @isolated(any) @Sendable (Result<Value, PipelineError>) -> Void,
        work: @escaping @Sendable () async -> Result<Value, PipelineError>
    ) -> Task<Void, Never> {
        let place = CallbackPlace(queue: callbackQueue ?? self.callbackQueue)
        return Task {
            let result = await work()
            let isTold = await place.run(
                isolatedTo: completion.isolation,
                unless: { Task.isCancelled && !result.isCancelled },
                { await completion(result) }
            )
            if isTold { return }
            let cancelled = PipelineError(.cancelled, "the call was cancelled")
            await place.run(isolatedTo: completion.isolation) { await completion(.failure(cancelled)) }
        }
    }
}

extension Result where Failure == PipelineError {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error.code == .cancelled } else { false }
    }
}
