/// The answer of a request whose body says nothing: any body, or none, decodes to it.
public struct Nothing: Codable, Sendable, Hashable {
    /// Makes one.
    public init() {}

    /// Decodes from whatever there is.
    public init(from decoder: any Decoder) throws {}
}
