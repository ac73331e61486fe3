import Pipeline

/// Returns the `PipelineError` that a closure throws, if any.
func pipelineError(_ work: () async throws -> Void) async -> PipelineError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? PipelineError
    }
}
