public import Foundation
public import Pipeline

extension APIRequest {
    /// The value of an answer, as the type says; JSON with the dates of the nearest strategy unless a decoder is given.
    public func makeResult(
        from response: PipelineResponse,
        atKeyPath keyPath: String?,
        using decoder: JSONDecoder?,
        failsOnEmptyData: Bool
    ) throws -> Output {
        guard response.body.fileURL == nil || Output.self == IgnoredBody.self else {
            throw PipelineError(
                .mapping(.object),
                "the answer is a file, which decodes to IgnoredBody alone",
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
