import Foundation

extension RequestTask {
    /// Writes the task's content into the request; call it from content that wraps a task.
    ///
    /// - Parameters:
    ///   - request: the request, with the target's method, URL and header fields.
    ///   - context: the source of randomness and the default encoders.
    /// - Throws: ``PipelineError``.
    public func encode(into request: inout PipelineRequest, context: EncodingContext) throws {
        if let content { try Self.encode(content, into: &request, context) }
        if !urlParameters.isEmpty { try URLEncoding.queryString.encode(urlParameters, into: &request) }
    }

    private static func encode(
        _ content: any RequestContent,
        into request: inout PipelineRequest,
        _ context: EncodingContext
    ) throws {
        do {
            try content.encode(into: &request, context: context)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw PipelineError.encodingFailed(error, "\(type(of: content)) could not be encoded")
        }
    }
}

extension PipelineError {
    /// Makes an `encoding` error that gives the coding path, but never a value.
    package static func encodingFailed(_ error: any Error, _ reason: String) -> PipelineError {
        var reason = reason
        if case EncodingError.invalidValue(_, let context) = error, !context.codingPath.isEmpty {
            reason += ", at " + context.codingPath.map(\.stringValue).joined(separator: ".").quotedExcerpt
        }
        return PipelineError(.encoding, reason, underlyingError: error)
    }
}
