import Foundation
import HTTPTypes

extension RequestTask {
    /// Writes what the task carries into the request.
    ///
    /// A random boundary comes from `random`.
    func encode(into request: inout PipelineRequest, random: PipelineRandom) throws {
        switch kind {
        case .plain:
            break
        case .data(let data):
            request.body = .bytes(data)
        case .jsonEncodable(let value):
            do {
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                request.body = .bytes(try encoder.encode(value))
            } catch {
                throw PipelineError.encodingFailed(
                    error,
                    "a value of type \(type(of: value)) could not be encoded as JSON"
                )
            }
            request.setContentTypeIfAbsent("application/json")
        case .parameters(let parameters, let encoding):
            do {
                try encoding.encode(parameters, into: &request)
            } catch let error as PipelineError {
                throw error
            } catch {
                throw PipelineError.encodingFailed(error, "\(type(of: encoding)) could not encode the parameters")
            }
        case .multipart(let form, let urlParameters):
            try request.requireBodyCarryingMethod()
            try URLEncoding.queryString.encode(urlParameters, into: &request)
            var random = random
            try form.encode(into: &request, using: &random)
        }
    }
}

extension PipelineError {
    /// `.encoding`, naming the coding path at fault and never a value.
    static func encodingFailed(_ error: any Error, _ reason: String) -> PipelineError {
        var reason = reason
        if case EncodingError.invalidValue(_, let context) = error, !context.codingPath.isEmpty {
            reason += ", at " + context.codingPath.map(\.stringValue).joined(separator: ".").quotedExcerpt
        }
        return PipelineError(.encoding, reason, underlyingError: error)
    }
}
