import Foundation
import HTTPTypes

extension PipelineResponse {
    /// The problem that the body reports (RFC 9457), whatever the status; parsed on each access.
    ///
    /// It is `nil` unless the media type is `application/problem+json` and the body is a JSON object of at most 1 MiB
    /// in memory.
    public var problemDetails: ProblemDetails? {
        guard reportsProblem, data.count <= 1 << 20 else { return nil }
        return try? JSONDecoder().decode(ProblemDetails.self, from: data)
    }

    private var reportsProblem: Bool {
        MediaType(headers[.contentType] ?? "").essence == "application/problem+json"
    }
}
