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

    /// Performs a call, delivers its steps one at a time, and ends it; the last step follows a success.
    func perform<Value>(
        _ target: Target,
        _ options: RequestOptions,
        for form: CallForm,
        deliver: @Sendable (ProgressResponse) async -> Void,
        end: (PerformedCall) -> Result<Value, PipelineError>
    ) async -> Result<Value, PipelineError> {
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

    /// Performs a call and makes a value of its response; a closure gets the steps of its progress, if there is one.
    func perform<Value>(
        _ target: Target,
        _ options: RequestOptions,
        telling onProgress: (@isolated(any) @Sendable (ProgressResponse) -> Void)?,
        end: (PerformedCall) -> Result<Value, PipelineError>
    ) async -> Result<Value, PipelineError> {
        guard let onProgress else { return end(await perform(target, options, for: .value)) }
        let place = CallbackPlace(executor: callbackExecutor)
        return await perform(
            target,
            options,
            for: .value,
            deliver: { step in
                await place.run(isolatedTo: onProgress.isolation, unless: { Task.isCancelled }) {
                    await onProgress(step)
                }
            },
            end: end
        )
    }
}
