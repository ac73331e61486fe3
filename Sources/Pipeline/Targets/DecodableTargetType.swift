public import Foundation

/// A target that says which type its answer decodes to.
///
/// ```swift
/// enum UserAPI: DecodableTargetType {
///     typealias ResultType = User
///     case get(id: Int)
/// }
/// let user = try await provider.requestDecoded(UserAPI.get(id: 1))
/// ```
public protocol DecodableTargetType: TargetType {
    /// The type that the body of the answer decodes to.
    ///
    /// Decoding runs on no actor: a model in a module whose code is isolated to an actor by default says `nonisolated`.
    associatedtype ResultType: Decodable & SendableMetatype

    /// The value of an answer, for `requestDecoded`.
    ///
    /// - Parameters:
    ///   - response: the answer.
    ///   - keyPath: where in the JSON the value stands, names joined by full stops; `nil` for the whole body.
    ///   - decoder: the decoder of the call; `nil` if the call has none. A target with a decoder of its own uses it then.
    ///   - failsOnEmptyData: whether an empty body is an error; without, it decodes as `{}` or `[]`.
    /// - Returns: the value; by default as ``PipelineResponse/map(_:atKeyPath:using:failsOnEmptyData:)`` decodes it.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` and the response.
    func makeResult(
        from response: PipelineResponse,
        atKeyPath keyPath: String?,
        using decoder: JSONDecoder?,
        failsOnEmptyData: Bool
    ) throws -> ResultType
}

extension DecodableTargetType {
    /// The JSON of the body, decoded with the decoder of the call or else with that of the provider.
    public func makeResult(
        from response: PipelineResponse,
        atKeyPath keyPath: String?,
        using decoder: JSONDecoder?,
        failsOnEmptyData: Bool
    ) throws -> ResultType {
        try response.map(
            ResultType.self,
            atKeyPath: keyPath,
            using: decoder,
            failsOnEmptyData: failsOnEmptyData
        )
    }
}
