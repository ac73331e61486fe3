public import Dispatch

extension Provider {
    /// Sends a target and calls back.
    ///
    /// The completion is called exactly once and never before this method has returned: on `callbackQueue`, else on the
    /// provider's, else on a background executor. A cancelled call completes with code
    /// ``PipelineError/Code-swift.struct/cancelled``.
    ///
    /// Progress is called there too, step by step, and not after the completion. Of a call that succeeds the last step has the
    /// response; a call that fails just ends.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - options: settings of this call; they win over the target's own.
    ///   - callbackQueue: where progress and completion run.
    ///   - progress: gets the steps, as `requestWithProgress(_:options:)` gives them.
    ///   - completion: gets the outcome.
    /// - Returns: a handle that cancels the call. Dropping it does not.
    @discardableResult
    public func request(
        _ target: Target,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil,
        progress: (@Sendable (ProgressResponse) -> Void)? = nil,
        completion: @escaping @Sendable (Result<PipelineResponse, PipelineError>) -> Void
    ) -> RequestHandle {
        let queue = callbackQueue ?? self.callbackQueue
        return deliver(on: queue, completion) {
            guard let progress else { return await self.perform(target, options, isStreaming: false) }
            return await self.perform(target, options) { step in
                guard let queue else { return progress(step) }
                await withCheckedContinuation { continuation in
                    queue.async {
                        progress(step)
                        continuation.resume()
                    }
                }
            }
        }
    }

    /// Runs the work in a task of its own and hands its outcome over, once.
    func deliver<Value: Sendable>(
        on callbackQueue: DispatchQueue?,
        _ completion: @escaping @Sendable (Result<Value, PipelineError>) -> Void,
        work: @escaping @Sendable () async -> Result<Value, PipelineError>
    ) -> RequestHandle {
        let queue = callbackQueue ?? self.callbackQueue
        return RequestHandle(
            task: Task {
                let result = await work()
                guard let queue else { return completion(result) }
                queue.async { completion(result) }
            }
        )
    }
}
