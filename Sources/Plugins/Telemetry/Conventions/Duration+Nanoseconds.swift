extension Duration {
    /// The whole nanoseconds, clamped to the range of `Int64`.
    var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
