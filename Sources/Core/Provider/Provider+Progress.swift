extension Provider {
    /// Returns the progress of a call, which starts when the sequence is iterated.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of this call; they override those of the target.
    /// - Returns: the steps of the call; the last one has the response.
    public func requestWithProgress(
        _ target: Target,
        options: RequestOptions = RequestOptions()
    ) -> RequestProgress {
        RequestProgress { meter in
            await self.perform(target, options, for: .response, meter: meter).finished()
        }
    }

    /// Performs a call and ends it; a closure gets the steps of its progress one at a time, the last after a success.
    func perform<Value>(
        _ target: Target,
        _ options: RequestOptions,
        for form: CallForm,
        telling onProgress: (@isolated(any) @Sendable (ProgressResponse) -> Void)?,
        on executor: (any TaskExecutor)? = nil,
        end: (PerformedCall) -> Result<Value, PipelineError>
    ) async -> Result<Value, PipelineError> {
        guard let onProgress else { return end(await perform(target, options, for: form)) }
        let place = CallbackPlace(executor: executor ?? callbackExecutor)
        let isCancelled = { @Sendable in Task.isCancelled }
        func deliver(_ step: ProgressResponse) async {
            await place.run(isolatedTo: onProgress.isolation, unless: isCancelled) { await onProgress(step) }
        }
        let (steps, continuation) = AsyncStream<ProgressResponse>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let meter = ProgressMeter { continuation.yield($0) }
        async let performed = {
            defer { continuation.finish() }
            return await perform(target, options, for: form, meter: meter)
        }()
        for await step in steps { await deliver(step) }
        let call = await performed
        let result = end(call)
        if case .success = result, let response = call.response { await deliver(meter.end(with: response)) }
        return result
    }
}
