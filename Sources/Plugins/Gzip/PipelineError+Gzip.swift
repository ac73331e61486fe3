public import Pipeline

extension PipelineError.Code.Limit {
    /// ``GzipPlugin/Limits/decodedByteCount``, or ``GzipPlugin/Limits/ratio``.
    public static let decodedBytes = Self(rawValue: "decodedBytes")
    /// ``GzipPlugin/Limits/codingCount``.
    public static let codings = Self(rawValue: "codings")
}
