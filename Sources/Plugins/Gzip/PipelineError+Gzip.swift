public import Pipeline

extension PipelineError.Code.Limit {
    /// `decodedByteCount` or `ratio` of ``GzipPlugin/Limits``.
    public static let decodedBytes = Self(rawValue: "decodedBytes")
    /// `codingCount` of ``GzipPlugin/Limits``.
    public static let codings = Self(rawValue: "codings")
}
