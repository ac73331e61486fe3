/// What the caller gets from a call.
package enum CallForm: Sendable {
    /// A response with its body in memory or in a file.
    case response
    /// A decoded value, or nothing but the certainty that the call succeeded.
    case value
    /// A response whose body the caller reads as a stream.
    case stream
}

extension Provider {
    /// Performs a call from its target to the validated response; the caller ends the call.
    package func perform(
        _ target: Target,
        _ options: RequestOptions,
        for form: CallForm,
        meter: ProgressMeter? = nil,
        amend: RequestAmendment? = nil,
        onStart: (@Sendable () -> Void)? = nil
    ) async -> PerformedCall {
        let (call, failure) = begin(target, options, form, meter, onStart, engine.settings)
        return await engine.perform(call, failure, amend)
    }

    /// Performs and ends a call with another engine, which records it for an analysis.
    func record(
        _ target: Target,
        _ options: RequestOptions,
        with engine: Engine
    ) async throws -> (CallState, PipelineResponse) {
        let (call, failure) = begin(target, options, .response, nil, nil, engine.settings)
        return (call, try await engine.perform(call, failure, nil).finished().awaited)
    }

    /// Returns a new call, and the failure if the endpoint closure threw.
    @inline(never)
    private func begin(
        _ target: Target,
        _ options: RequestOptions,
        _ form: CallForm,
        _ meter: ProgressMeter?,
        _ onStart: (@Sendable () -> Void)?,
        _ settings: CallSettings
    ) -> (CallState, PipelineError?) {
        settings.inProgress.begin()
        let (endpoint, failure) = endpointAndFailure(target)
        let call = CallState(
            target: isMulti ? MultiTarget(target).target : target,
            endpoint: endpoint,
            options: settings.options.overridden(by: target.options).overridden(by: options),
            form: form,
            meter: meter,
            onStart: onStart,
            settings: settings
        )
        return (call, failure)
    }

    private func endpointAndFailure(_ target: Target) -> (Endpoint, PipelineError?) {
        // If the call is cancelled before it begins, the endpoint closure does not run.
        if Task.isCancelled { return (Endpoint(target), nil) }
        do {
            return (try endpoint(target), nil)
        } catch {
            let reason = "the endpoint closure threw \(PipelineError.name(of: error))"
            return (Endpoint(target), PipelineError(thrown: error, otherwise: .encoding, reason))
        }
    }
}
