import Synchronization

/// All that is inside an interceptor: the later plugins and the wire.
public struct Next: Sendable {
    let interceptor: Interceptor
    let context: PipelineContext

    /// Sends the request on.
    ///
    /// Each call after the first begins a new attempt: later plugins prepare and process again.
    ///
    /// - Throws: ``PipelineError``, or `CancellationError` when the call was cancelled; a ``PipelineError`` with code
    ///   ``PipelineError/Code-swift.struct/plugin`` when the interceptor has returned already.
    public func callAsFunction(_ request: PipelineRequest) async throws -> PipelineResponse {
        switch context.beginNext(of: interceptor.number) {
        case .first:
            return try await run(request, context)
        case .again:
            return try await run(request, try context.makeNextAttempt())
        case .closed:
            throw PipelineError(.plugin, "next was called after the interceptor had returned")
        }
    }

    private func run(_ request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse {
        switch await interceptor.inside.run(request, context) {
        case .success(let response):
            return response
        case .failure(var error):
            error.isAttributed = true
            throw error.asThrown
        }
    }
}
