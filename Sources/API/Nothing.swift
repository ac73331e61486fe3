/// The answer of a request whose body says nothing: any body, or none, decodes to it.
///
/// One that is larger than `PipelineLimits.bufferedBodyByteCount` is an error, `limit.bodyBytes`, as with every type.
public struct Nothing: Codable, Sendable, Hashable {
    /// Makes one.
    public init() {}

    /// Decodes from whatever there is.
    public init(from decoder: any Decoder) throws {}
}
