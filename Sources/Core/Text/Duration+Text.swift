extension Duration {
    /// The duration for logs and errors: in milliseconds below 10 s, else in seconds, with at most one decimal.
    var text: String {
        let (seconds, attoseconds) = components
        // Longer than any wait, and too long to be counted in parts of a second.
        guard seconds.magnitude < 1 << 40 else { return "\(seconds) s" }
        guard seconds < 10 else { return Self.decimal(seconds * 10 + attoseconds / 100_000_000_000_000_000) + " s" }
        let tenths = seconds * 10_000 + attoseconds / 100_000_000_000_000
        return (tenths < 100 ? Self.decimal(tenths) : String(tenths / 10)) + " ms"
    }

    /// Returns tenths as a number, with a decimal unless it is zero.
    private static func decimal(_ tenths: Int64) -> String {
        tenths % 10 == 0 ? String(tenths / 10) : String(tenths / 10) + "." + String(tenths % 10)
    }
}
