import Foundation
import Pipeline

/// A transport that responds like the server, without a network.
final class Stub: Transport {
    private let payload: Payload

    init(payload: Payload) { self.payload = payload }

    let decodesContent = false

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let call = context.target as? Call else {
            throw PipelineError(.transport, "the target is not a Call of this run")
        }
        let body = try await request.body.collect(upTo: context.limits.bufferedBodyByteCount)
        let answer = Answer(
            to: call.plan,
            attempt: request.attemptNumber,
            hop: context.hop,
            sent: (body, request.headers[.contentEncoding]),
            payload: payload
        )
        try await context.clock.sleep(for: .milliseconds(answer.delay + (answer.pause ?? 0) * Answer.dripCount))
        return try makeResponse(answer, to: request, context)
    }

    private func makeResponse(
        _ answer: Answer,
        to request: PipelineRequest,
        _ context: PipelineContext
    ) throws -> PipelineResponse {
        var head = HTTPResponse(status: .init(code: answer.status))
        for field in answer.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            head.headerFields.append(HTTPField(name: name, value: field.value))
        }
        switch answer.fault {
        case .none:
            if case .none = answer.framing { return PipelineResponse(request: request, head: head) }
            let body = answer.body
            return PipelineResponse(
                request: request,
                head: head,
                body: context.wantsStream ? .stream(Pieces(of: body), byteCount: body.count) : .bytes(body)
            )
        case .truncated:
            return try broken(PipelineError(.truncated, "the body ended halfway"), answer, head, request, context)
        case .reset:
            return try broken(
                PipelineError(.connectionLost, "the connection was reset halfway"),
                answer,
                head,
                request,
                context
            )
        case .empty:
            throw PipelineError(.connectionLost, "the connection was closed without a response")
        case .malformed:
            throw PipelineError(.malformedResponse, "the response is not valid HTTP")
        }
    }

    /// Returns half of the body followed by the failure, or throws the failure if no stream is wanted.
    private func broken(
        _ failure: PipelineError,
        _ answer: Answer,
        _ head: HTTPResponse,
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) throws -> PipelineResponse {
        guard context.wantsStream else { throw failure }
        let half = answer.body.prefix(answer.body.count / 2)
        return PipelineResponse(request: request, head: head, body: .stream(Pieces(of: half, failure: failure)))
    }
}
