/// The result of a request whose response body does not matter: any body, or none, decodes to it.
///
/// A body that is larger than `PipelineLimits.bufferedBodyByteCount` is the error `limit.bodyBytes`, as with every type.
public struct IgnoredBody: Codable, Sendable, Hashable {
    /// Creates a value.
    public init() {}

    /// Decodes from any body.
    public init(from decoder: any Decoder) throws {}
}
