import Foundation
import Pipeline

/// A response to a client.
struct OutgoingResponse: Sendable {
    var head: HTTPResponse
    var body: PipelineBody

    /// Returns a response with a text and, by default, the media type of plain text.
    static func text(
        _ status: HTTPResponse.Status,
        _ text: String,
        type: String = "text/plain; charset=utf-8",
        _ fields: HTTPFields = [:]
    ) -> OutgoingResponse {
        var fields = fields
        fields[.contentType] = type
        return OutgoingResponse(
            head: HTTPResponse(status: status, headerFields: fields),
            body: .bytes(Data(text.utf8))
        )
    }
}
