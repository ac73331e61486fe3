import Pipeline

/// How much decoding may make of what has arrived.
package struct DecodingLimits: Sendable {
    /// How many times as long a body may become.
    package var ratio: Int
    /// Up to where the ratio is not looked at.
    package var ratioFreeByteCount: Int

    package init(ratio: Int, ratioFreeByteCount: Int) {
        self.ratio = ratio
        self.ratioFreeByteCount = ratioFreeByteCount
    }
}

// The public names are in PipelinePlugins, whose limits they are.
extension PipelineError.Code.Limit {
    static let decodedContentBytes = Self(rawValue: "decodedBytes")
    static let contentCodings = Self(rawValue: "codings")
}
