extension Provider {
    /// Sends a target and calls a closure with the result.
    ///
    /// The completion is called exactly once, and never before this method has returned. A completion that is isolated
    /// to an actor runs on that actor; a closure written in a view, for example, runs on the main actor. Any other
    /// completion runs on `callbackExecutor`, else on the provider's executor, else on a background executor, whose
    /// thread it must not block. If the call is cancelled before it has completed, it completes with code
    /// ``PipelineError/Code-swift.struct/cancelled``, even if the response has already arrived, and reports no further
    /// progress.
    ///
    /// The progress closure is scheduled in the same way. It gets the steps in order, and never after the completion.
    /// If the call succeeds, the last step has the response. If the call fails, progress ends without such a step.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of this call; they override those of the target.
    ///   - callbackExecutor: the executor of progress and completion closures that are isolated to no actor, such as
    ///     `.queue(.main)`.
    ///   - progress: receives the steps that `requestWithProgress(_:options:)` would return.
    ///   - completion: receives the result.
    /// - Returns: the task of the call. Cancelling it cancels the call; the completion still runs, once. The task ends
    ///   after the last callback has run. Dropping the task does not cancel the call.
    @discardableResult
    public func request(
        _ target: Target,
        options: RequestOptions = RequestOptions(),
        callbackExecutor: (any TaskExecutor)? = nil,
        @_inheritActorContext progress: (@isolated(any) @Sendable (ProgressResponse) -> Void)? = nil,
        @_inheritActorContext completion:
            @escaping @isolated(any) @Sendable (Result<PipelineResponse, PipelineError>) -> Void
    ) -> Task<Void, Never> {
        deliver(on: callbackExecutor, completion) {
            await self.perform(target, options, for: .response, telling: progress, on: callbackExecutor) {
                $0.finished()
            }
        }
    }

    /// The calls for which ``drain(within:)`` waits; a task that makes calls counts among them from its beginning.
    package var callsInProgress: CallsInProgress { engine.settings.inProgress }

    /// Runs work in a separate task and delivers its result exactly once.
    func deliver<Value: Sendable>(
        on callbackExecutor: (any TaskExecutor)?,
        _ completion: @escaping @isolated(any) @Sendable (Result<Value, PipelineError>) -> Void,
        work: @escaping @Sendable () async -> Result<Value, PipelineError>
    ) -> Task<Void, Never> {
        let place = CallbackPlace(executor: callbackExecutor ?? self.callbackExecutor)
        let inProgress = callsInProgress
        inProgress.begin()
        return Task(executorPreference: SeparateTasks.executor) {
            defer { inProgress.end() }
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
