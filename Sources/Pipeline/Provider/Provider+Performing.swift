extension Provider {
    /// The path of a call from the target to the validated response; the caller ends it.
    package func perform(
        _ target: Target,
        _ options: RequestOptions,
        isStreaming: Bool,
        meter: ProgressMeter? = nil,
        amend: RequestAmendment? = nil,
        onStart: (@Sendable () -> Void)? = nil
    ) async -> PerformedCall {
        let (call, failure) = begin(target, options, isStreaming, meter, onStart)
        return await engine.perform(call, failure, amend)
    }

    /// A new call, and why it has no endpoint but the target's own.
    @inline(never)
    private func begin(
        _ target: Target,
        _ options: RequestOptions,
        _ isStreaming: Bool,
        _ meter: ProgressMeter?,
        _ onStart: (@Sendable () -> Void)?
    ) -> (CallState, PipelineError?) {
        let (endpoint, failure) = endpointAndFailure(target)
        let call = CallState(
            target: isMulti ? MultiTarget(target).target : target,
            endpoint: endpoint,
            options: target.options.overridden(by: options),
            isStreaming: isStreaming,
            meter: meter,
            onStart: onStart,
            settings: engine.settings
        )
        return (call, failure)
    }

    private func endpointAndFailure(_ target: Target) -> (Endpoint, PipelineError?) {
        // A call that is cancelled before it begins makes no endpoint.
        if Task.isCancelled { return (Endpoint(target), nil) }
        do {
            return (try endpoint(target), nil)
        } catch {
            let reason = "the endpoint closure threw \(PipelineError.name(of: error))"
            return (Endpoint(target), PipelineError(thrown: error, otherwise: .encoding, reason))
        }
    }
}
