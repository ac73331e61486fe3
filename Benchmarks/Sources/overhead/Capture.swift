import Pipeline
import Synchronization

/// A transport that keeps what it was given, so that another can be called the same way.
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
