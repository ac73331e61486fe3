public import Foundation

/// A target that declares the type that its response decodes to.
///
/// ```swift
/// enum UserAPI: DecodableTargetType {
///     typealias ResultType = User
///     case get(id: Int)
/// }
/// let user = try await provider.requestDecoded(UserAPI.get(id: 1))
/// ```
public protocol DecodableTargetType: TargetType {
    /// The type that the body of the response decodes to.
    ///
    /// Decoding does not run on an actor. In a module whose code is isolated to an actor by default, declare the model
    /// `nonisolated`.
    associatedtype ResultType: Decodable & SendableMetatype

    /// Returns the value of a response, for `requestDecoded`.
    ///
    /// - Parameters:
    ///   - response: the response to decode.
    ///   - keyPath: the path to the value in the JSON, as names joined by full stops; `nil` decodes the whole body.
    ///   - decoder: the decoder of the call; `nil` if the call has none. A target with its own decoder then uses that
    ///     one.
    ///   - failsOnEmptyData: whether an empty body is an error; if `false`, it decodes as `{}` or `[]`.
    /// - Returns: the value; the default decodes it with ``PipelineResponse/map(_:atKeyPath:using:failsOnEmptyData:)``.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` and the response.
    func makeResult(
        from response: PipelineResponse,
        atKeyPath keyPath: String?,
        using decoder: JSONDecoder?,
        failsOnEmptyData: Bool
    ) throws -> ResultType
}

extension DecodableTargetType {
    /// Decodes the JSON of the body with the decoder of the call or, without one, that of the provider.
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
