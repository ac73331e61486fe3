public import PipelineCore

extension LoggingPlugin {
    /// An object used only for its identity.
    final class Identity: Sendable {}

    /// Writes the summary, or the failure if it has no line yet.
    public func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        let level = level(of: context)
        guard .error <= level else { return }
        let failureLevel = failureLevel(outcome.error, outcome.statusCode, context)
        guard failureLevel != nil || form == .summary, failureLevel ?? .info <= level else { return }
        let last = context[LastPasses.self][ObjectIdentifier(identity)]
        if failureLevel != nil, last?.hasLine == true { return }
        let request = last?.request ?? outcome.error?.request ?? outcome.exchanges.last?.request
        var message = message(context, request: request)
        message.outcome = outcome
        message.error = outcome.error?.code == .unacceptableStatus ? nil : outcome.error
        message.attempt = last?.attempt
        message.duration = outcome.duration
        write(failureLevel == nil ? .summary : .failure, at: failureLevel ?? .info, message)
    }

    /// Remembers a pass for the end of the call if it is needed there.
    ///
    /// Called at a level of `error` or above.
    func remember(_ result: Result<PipelineResponse, PipelineError>, hasLine: Bool, _ context: PipelineContext) {
        // What an earlier attempt left may no longer hold.
        guard hasLine || form == .summary || context.attempt > 1 else { return }
        let pass = LastPass(attempt: context.attempt, request: result.request, hasLine: hasLine)
        let key = ObjectIdentifier(identity)
        context.update(LastPasses.self) { $0[key] = pass }
    }
}

/// The last pass of a call through a plugin.
private struct LastPass: Sendable {
    let attempt: Int
    let request: PipelineRequest?
    /// Whether the pass failed and its failure was written.
    let hasLine: Bool
}

/// The last passes of a call, by the identity of the plugin.
private enum LastPasses: PipelineContext.Key {
    static let defaultValue: [ObjectIdentifier: LastPass] = [:]
}
