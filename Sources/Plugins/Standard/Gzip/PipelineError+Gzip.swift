public import PipelineCore

extension PipelineError.Code.Limit {
    /// A decoded body exceeds `decodedByteCount` or `ratio` of ``GzipPlugin/Limits``.
    public static let decodedBytes = Self(rawValue: "decodedBytes")
    /// A body has more codings than `codingCount` of ``GzipPlugin/Limits`` allows.
    public static let codings = Self(rawValue: "codings")
}
