extension GzipPlugin {
    /// How far a body may grow when it is decoded.
    ///
    /// **Defaults**
    ///
    /// | setting | default | unit | range |
    /// |---|---|---|---|
    /// | `decodedByteCount` | 104,857,600 (100 MiB) | bytes of a body in memory | 0 and up |
    /// | `ratio` | 100 | decoded bytes for each that has arrived | 1 and up |
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
        ///   - decodedByteCount: the most bytes of a body that is decoded in memory; `PipelineLimits.bufferedBodyByteCount` holds as well.
        ///   - ratio: how many times as long a body may become; that of a stream and of a download, too.
        ///   - ratioFreeByteCount: the decoded bytes up to which the ratio is ignored.
        ///   - codingCount: the most codings, one inside the other.
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
