import Synchronization

/// All that is inside an interceptor: the later plugins and the wire.
public struct Next: Sendable {
    let pass: InterceptorPass

    /// Sends the request on.
    ///
    /// Each call after the first begins a new attempt: later plugins prepare and process again.
    ///
    /// - Throws: ``PipelineError``, or `CancellationError` when the call was cancelled; a ``PipelineError`` with code
    ///   ``PipelineError/Code-swift.struct/plugin`` when the interceptor has returned already.
    public func callAsFunction(_ request: PipelineRequest) async throws -> PipelineResponse {
        var context = pass.context
        switch pass.begin() {
        case .closed:
            throw PipelineError(.plugin, "next was called after the interceptor had returned")
        case .first:
            break
        case .again:
            context.attempt = context.call.beginAttempt()
        }
        switch await pass.pipeline.run(segment: pass.segment, request, context) {
        case .success(let response):
            return response
        case .failure(var error):
            error.isAttributed = true
            throw error.asThrown
        }
    }
}

/// One running of one interceptor: where its `next` leads, how often it was called, and whether it still may be.
final class InterceptorPass: Sendable {
    enum Beginning {
        case first
        case again
        case closed
    }

    let pipeline: CompiledPipeline
    let segment: Int
    let context: PipelineContext
    private let state = Atomic(0)

    private static let closed = 1 << 62

    init(pipeline: CompiledPipeline, segment: Int, context: PipelineContext) {
        self.pipeline = pipeline
        self.segment = segment
        self.context = context
    }

    func begin() -> Beginning {
        switch state.add(1, ordering: .relaxed).newValue {
        case 1: .first
        case Self.closed...: .closed
        default: .again
        }
    }

    func close() {
        state.store(Self.closed, ordering: .relaxed)
    }
}
