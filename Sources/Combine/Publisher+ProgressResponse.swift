#if canImport(Combine) || OpenCombine
public import PipelineCore

#if canImport(Combine)
public import Combine
#else
public import OpenCombine
#endif

extension Publisher where Output == ProgressResponse, Failure == PipelineError {
    /// Publishes the response of the last step.
    public func filterCompleted() -> AnyPublisher<PipelineResponse, PipelineError> {
        compactMap { $0.response }.eraseToAnyPublisher()
    }

    /// Publishes the progress of every step but the last, from 0 to below 1.
    public func filterProgress() -> AnyPublisher<Double, PipelineError> {
        filter { !$0.completed }.map { $0.progress }.eraseToAnyPublisher()
    }
}
#endif
