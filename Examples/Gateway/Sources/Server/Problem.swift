import Foundation
import Hummingbird
import NIOCore
import Pipeline
import PipelineResilience

/// A failure as the gateway reports it, without anything that an upstream has sent.
///
/// Source: RFC 9457, https://www.rfc-editor.org/rfc/rfc9457.html
struct Problem: HTTPResponseError {
    let status: HTTPResponse.Status
    let detail: String
    private(set) var retryAfterSeconds: Int?

    init(_ status: HTTPResponse.Status, _ detail: String) {
        self.status = status
        self.detail = detail
    }

    /// Makes the problem of a failed call.
    init(_ error: PipelineError) {
        switch error.code {
        case .circuitOpen, .limit(.concurrency), .limit(.rate), .timeout(.queue), .timeout(.pool), .clientClosed,
            .unacceptableStatus where error.status == .tooManyRequests:
            self.init(.serviceUnavailable, "The service is overloaded or down; retry later.")
            retryAfterSeconds = error.retryAfter.map { max(1, Int(($0 / .seconds(1)).rounded(.up))) }
        case .timeout:
            self.init(.gatewayTimeout, "A server that is needed for this response took too long.")
        default:
            self.init(.badGateway, "A server that is needed for this response failed.")
        }
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        let details = ProblemDetails(title: status.reasonPhrase, status: status.code, detail: detail)
        var fields: HTTPFields = [.contentType: "application/problem+json"]
        if let retryAfterSeconds { fields[.retryAfter] = "\(retryAfterSeconds)" }
        return Response(
            status: status,
            headers: fields,
            body: .init(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(details)))
        )
    }
}
