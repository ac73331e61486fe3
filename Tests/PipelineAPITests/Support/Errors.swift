import Pipeline

/// The error that a call ends in.
func pipelineError(_ work: () async throws -> Void) async -> PipelineError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? PipelineError
    }
}
