public import Foundation
public import PipelineCore

extension APIRequest {
    /// Returns the value that a response decodes to, as its type requires; JSON uses the nearest date strategies unless
    /// a decoder is given.
    public func makeResult(
        from response: PipelineResponse,
        atKeyPath keyPath: String?,
        using decoder: JSONDecoder?,
        failsOnEmptyData: Bool
    ) throws -> Output {
        guard response.body.fileURL == nil || Output.self == IgnoredBody.self else {
            throw PipelineError(
                .mapping(.object),
                "the response is a file, which decodes only to IgnoredBody",
                response: response
            )
        }
        if keyPath == nil, response.data.isEmpty, Output.self is any ExpressibleByNilLiteral.Type {
            return try JSONDecoder().decode(Output.self, from: Data("null".utf8))
        }
        guard keyPath == nil, let plain = Output.self as? any PlainResult.Type else {
            return try response.map(
                Output.self,
                atKeyPath: keyPath,
                using: decoder ?? parts.ownCoders.jsonDecoder(for: Output.self),
                failsOnEmptyData: failsOnEmptyData
            )
        }
        guard let made = try plain.make(from: response), let value = made as? Output else {
            let reason = response.data.isEmpty ? ": it is \(response.emptyText)" : ""
            throw PipelineError(
                .mapping(.object),
                "the body is not a valid \(Output.self)\(reason)",
                response: response
            )
        }
        return value
    }
}
