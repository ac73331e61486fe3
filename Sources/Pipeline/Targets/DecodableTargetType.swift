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
}
