public import PipelineCore

extension GzipPlugin {
    /// Limits on the size of decoded bodies.
    ///
    /// **Defaults**
    ///
    /// | setting | default | unit | range |
    /// |---|---|---|---|
    /// | `decodedByteCount` | 104,857,600 (100 MiB) | bytes of a body in memory | 0 and up |
    /// | `ratio` | 100 | decoded bytes for each byte received | 1 and up |
    /// | `ratioFreeByteCount` | 1,048,576 (1 MiB) | decoded bytes | 0 and up |
    /// | `codingCount` | 5 | codings of one body | 1 and up |
    public struct Limits: Sendable, Hashable {
        let decodedByteCount: Int
        let ratio: Int
        let ratioFreeByteCount: Int
        let codingCount: Int

        /// Creates limits.
        ///
        /// - Parameters:
        ///   - decodedByteCount: the most bytes of a body decoded in memory.
        ///     `ProviderConfiguration.Limits.bufferedBodyByteCount` applies as well.
        ///   - ratio: the most decoded bytes for each received byte, also in a stream or a download.
        ///   - ratioFreeByteCount: the number of decoded bytes up to which the ratio is ignored.
        ///   - codingCount: the most codings that may be applied to one body.
        public init(
            decodedByteCount: Int = 100 << 20,
            ratio: Int = 100,
            ratioFreeByteCount: Int = 1 << 20,
            codingCount: Int = 5
        ) {
            precondition(decodedByteCount >= 0, "decodedByteCount is \(decodedByteCount), not 0 or more")
            precondition(ratio > 0, "ratio is \(ratio), not 1 or more")
            precondition(ratioFreeByteCount >= 0, "ratioFreeByteCount is \(ratioFreeByteCount), not 0 or more")
            precondition(codingCount > 0, "codingCount is \(codingCount), not 1 or more")
            self.decodedByteCount = decodedByteCount
            self.ratio = ratio
            self.ratioFreeByteCount = ratioFreeByteCount
            self.codingCount = codingCount
        }
    }
}

extension PipelineError.Code.Limit {
    /// A decoded body exceeds `decodedByteCount` or `ratio` of ``GzipPlugin/Limits``.
    public static let decodedBytes = Self(rawValue: "decodedBytes")
    /// A body has more codings than `codingCount` of ``GzipPlugin/Limits`` allows.
    public static let codings = Self(rawValue: "codings")
}
