import Foundation
import HTTPTypes

extension RequestTask {
    /// Writes what the task carries into the request.
    func encode(into request: inout PipelineRequest) throws {
        switch kind {
        case .plain:
            break
        case .data(let data):
            request.body = .bytes(data)
        case .jsonEncodable(let value, let encoder):
            request.body = .bytes(try Self.json(value, encoder))
            request.setContentTypeIfAbsent("application/json")
        case .form(let value, let encoder, let destination):
            destination.put(try encoder.encode(value), into: &request)
        case .parameters(let parameters, let encoding):
            do {
                try encoding.encode(parameters, into: &request)
            } catch let error as PipelineError {
                throw error
            } catch {
                throw PipelineError.encodingFailed(error, "\(type(of: encoding)) could not encode the parameters")
            }
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
