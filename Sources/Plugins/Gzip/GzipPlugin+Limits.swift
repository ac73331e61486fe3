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
        /// The most bytes of a body that is decoded in memory; `PipelineLimits.bufferedBodyByteCount` holds as well.
        public var decodedByteCount: Int
        /// How many times as long a body may become; that of `stream` and of a download, too.
        public var ratio: Int
        /// Up to where the ratio is not looked at.
        public var ratioFreeByteCount: Int
        /// The most codings, one inside the other.
        public var codingCount: Int

        /// Makes limits.
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
