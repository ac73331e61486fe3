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
    associatedtype ResultType: Decodable & SendableMetatype
}
