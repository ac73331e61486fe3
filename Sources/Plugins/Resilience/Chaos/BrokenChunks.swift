import Foundation
import PipelineCore

extension PipelineBody {
    /// Returns half of the first piece of the body, which then ends or fails.
    func broken(_ fault: ChaosEffect.BodyFault) -> PipelineBody {
        if fault.code == nil, let bytes { return .bytes(bytes.prefix(bytes.count / 2)) }
        return .stream(BrokenChunks(body: self, code: fault.code))
    }
}

/// Half of the first piece of a body, and then its end or a failure.
private struct BrokenChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: PipelineBody
    let code: PipelineError.Code?

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(upstream: body.chunks().makeAsyncIterator(), code: code)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var upstream: PipelineBody.Chunks.AsyncIterator?
        let code: PipelineError.Code?

        mutating func next() async throws -> Data? {
            if var iterator = upstream.take(), let chunk = try await iterator.next(), chunk.count > 1 {
                return chunk.prefix(chunk.count / 2)
            }
            if let code { throw PipelineError(code, "ChaosPlugin broke the body") }
            return nil
        }
    }
}
