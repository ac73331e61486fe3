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

    /// The levels of nesting that become JSON; `JSONEncoder` itself has no bound but the stack.
    private static let maximumJSONDepth = 128

    private static func json(_ value: any Encodable & Sendable, _ encoder: JSONEncoder?) throws -> Data {
        let encoder = encoder ?? JSONEncoder.withSortedKeys
        do {
            try TreeEncoder.checkDepth(of: value, maximum: maximumJSONDepth, userInfo: encoder.userInfo)
            return try encoder.encode(value)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw PipelineError.encodingFailed(
                error,
                "a value of type \(type(of: value)) could not be encoded as JSON"
            )
        }
    }
}

extension JSONEncoder {
    fileprivate static var withSortedKeys: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
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
