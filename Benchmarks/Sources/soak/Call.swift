import Foundation
import Pipeline

/// A planned call as a target.
struct Call: TargetType, AccessTokenAuthorizable {
    let plan: Plan
    let baseURL: URL
    let payload: Payload

    var path: String { "/\(plan.subject)/0" }

    var method: HTTPMethod {
        if plan.behaviour == .head { return .head }
        return plan.behaviour.isEcho ? .post : .get
    }

    var task: RequestTask {
        guard plan.behaviour.isEcho else { return .requestPlain }
        let data = payload.bodies[plan.variant].data
        guard plan.variant >= Payload.variantCount / 2 else { return .requestData(data) }
        return .requestStream(.stream(replaying: { Pieces(of: data) }))
    }

    var headers: [String: String]? { plan.behaviour.isEcho ? ["Content-Type": "text/plain"] : nil }
    var sampleData: Data { payload.bodies[plan.variant].data }
    var authorizationType: AuthorizationType? { .bearer }
}

/// Bytes in pieces, with an optional error instead of the end.
struct Pieces: AsyncSequence, Sendable {
    let data: Data
    let size: Int
    let failure: PipelineError?

    init(of data: Data, by size: Int = 10_000, failure: PipelineError? = nil) {
        self.data = data
        self.size = size
        self.failure = failure
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var rest: Data

        mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            guard !rest.isEmpty else {
                if let failure = pieces.failure { throw failure }
                return nil
            }
            defer { rest = rest.dropFirst(pieces.size) }
            return rest.prefix(pieces.size)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self, rest: data) }
}
