import PipelineCore

/// The limits on how far a body may grow when it is decoded.
public struct DecodingLimits: Sendable {
    /// The maximum ratio of decoded bytes to encoded bytes.
    public var ratio: Int
    /// The number of decoded bytes up to which the ratio is ignored.
    public var ratioFreeByteCount: Int

    /// Makes limits.
    ///
    /// - Parameters:
    ///   - ratio: the maximum ratio of decoded bytes to encoded bytes.
    ///   - ratioFreeByteCount: the number of decoded bytes up to which the ratio is ignored.
    public init(ratio: Int, ratioFreeByteCount: Int) {
        self.ratio = ratio
        self.ratioFreeByteCount = ratioFreeByteCount
    }
}

// The public names are in PipelinePlugins, which defines these limits.
extension PipelineError.Code.Limit {
    static let decodedContentBytes = Self(rawValue: "decodedBytes")
    static let contentCodings = Self(rawValue: "codings")
}
