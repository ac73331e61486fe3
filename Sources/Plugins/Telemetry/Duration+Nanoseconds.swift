extension Duration {
    /// The whole nanoseconds, clamped to the range of `Int64`.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooLarge || overflows ? (seconds < 0 ? .min : .max) : sum
    }
}
