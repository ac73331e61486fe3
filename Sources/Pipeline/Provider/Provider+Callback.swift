public import Dispatch

extension Provider {
    /// Sends a target and calls back.
    ///
    /// The completion is called exactly once and never before this method has returned: on `callbackQueue`, else on the
    /// provider's, else on a background executor. A cancelled call completes with code
    /// ``PipelineError/Code-swift.struct/cancelled``.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - options: settings of this call; they win over the target's own.
    ///   - callbackQueue: where the completion runs.
    ///   - completion: gets the outcome.
    /// - Returns: a handle that cancels the call. Dropping it does not.
    @discardableResult
    public func request(
        _ target: Target,
        options: RequestOptions = RequestOptions(),
        callbackQueue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<PipelineResponse, PipelineError>) -> Void
    ) -> RequestHandle {
        deliver(on: callbackQueue, completion) {
            await self.perform(target, options, isStreaming: false)
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
