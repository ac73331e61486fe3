public import Foundation
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

    /// Decodes the reported problem as a custom type, with the members that the API adds to ``ProblemDetails``.
    ///
    /// - Parameters:
    ///   - type: the type to decode from the whole JSON object.
    ///   - decoder: the decoder; `nil` for that of the provider that returned the response.
    /// - Returns: the decoded value.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` and the response:
    ///   `.problem` if the media type is not `application/problem+json`, `.object` if the body does not decode.
    public func mapProblem<Value: Decodable>(
        _ type: Value.Type,
        using decoder: JSONDecoder? = nil
    ) throws -> Value {
        guard reportsProblem else {
            throw PipelineError(.mapping(.problem), "the response does not report a problem", response: self)
        }
        return try map(type, using: decoder)
    }

    private var reportsProblem: Bool {
        MediaType(headers[.contentType] ?? "").essence == "application/problem+json"
    }
}
