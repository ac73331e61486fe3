import Pipeline

extension Provider {
    /// The error that a call ends in, `nil` when there is none.
    func failure(_ target: Target, options: RequestOptions = RequestOptions()) async -> PipelineError? {
        do {
            _ = try await request(target, options: options)
            return nil
        } catch {
            return error as? PipelineError
        }
    }
}
