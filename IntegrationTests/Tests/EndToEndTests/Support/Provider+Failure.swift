import Pipeline

extension Provider {
    /// The error that a call fails with, or `nil` if it succeeds.
    func failure(_ target: Target, options: RequestOptions = RequestOptions()) async -> PipelineError? {
        do {
            _ = try await request(target, options: options)
            return nil
        } catch {
            return error as? PipelineError
        }
    }
}
