import Foundation

extension RequestTask {
    /// Writes the task's content into the request; call it from content that wraps a task.
    ///
    /// - Parameters:
    ///   - request: the request, with the target's method, URL and header fields.
    ///   - context: the source of randomness and the default encoders.
    /// - Throws: ``PipelineError``.
    public func encode(into request: inout PipelineRequest, context: EncodingContext) throws {
        if let content {
            try PipelineError.encoding("\(type(of: content)) could not be encoded") {
                try content.encode(into: &request, context: context)
            }
        }
        if !urlParameters.isEmpty { try URLEncoding.queryString.encode(urlParameters, into: &request) }
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

    /// Runs an encoding, and turns an error that is not a ``PipelineError`` into one with code `encoding`.
    static func encoding<Output>(_ reason: @autoclosure () -> String, _ encode: () throws -> Output) throws -> Output {
        do {
            return try encode()
        } catch let error as PipelineError {
            throw error
        } catch {
            throw encodingFailed(error, reason())
        }
    }
}
