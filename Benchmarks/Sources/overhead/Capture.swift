import Pipeline
import Synchronization

/// A transport that keeps its last request and context, so that another transport can be called with them.
final class Capture: Transport {
    struct NothingTaken: Error {}

    let decodesContent = false
    private let last = Mutex<(PipelineRequest, PipelineContext)?>(nil)

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        last.withLock { $0 = (request, context) }
        return PipelineResponse(request: request, statusCode: 204)
    }

    func taken() throws -> (PipelineRequest, PipelineContext) {
        guard let last = last.withLock({ $0 }) else { throw NothingTaken() }
        return last
    }
}
