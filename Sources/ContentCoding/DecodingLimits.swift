import Pipeline

/// How much decoding may make of what has arrived.
public struct DecodingLimits: Sendable {
    /// How many times as long a body may become.
    public var ratio: Int
    /// Up to where the ratio is not looked at.
    public var ratioFreeByteCount: Int

    /// - Parameters:
    ///   - ratio: how many times as long a body may become.
    ///   - ratioFreeByteCount: the decoded bytes up to which the ratio is ignored.
    public init(ratio: Int, ratioFreeByteCount: Int) {
        self.ratio = ratio
        self.ratioFreeByteCount = ratioFreeByteCount
    }
}

// The public names are in PipelinePlugins, whose limits they are.
extension PipelineError.Code.Limit {
    static let decodedContentBytes = Self(rawValue: "decodedBytes")
    static let contentCodings = Self(rawValue: "codings")
}
