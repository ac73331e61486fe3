/// The result of a request whose response body is not needed; any body, or none, decodes to it.
///
/// As with every type, a body that is larger than `PipelineLimits.bufferedBodyByteCount` fails with `limit.bodyBytes`.
public struct IgnoredBody: Codable, Sendable, Hashable {
    /// Creates a value, which has no content.
    public init() {}

    /// Creates a value from any body, without reading it.
    public init(from decoder: any Decoder) throws {}
}
