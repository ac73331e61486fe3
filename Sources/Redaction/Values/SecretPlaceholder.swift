/// The text that replaces a hidden value.
package struct SecretPlaceholder: Sendable {
    package let text: String
    /// The text that replaces a number in JSON.
    package let number: String

    /// The placeholder for texts that people read.
    package static let shown = SecretPlaceholder(text: "…", number: "…")

    /// The placeholder for recordings: ASCII, so the same in a URL, a form, JSON and a header field; numbers remain
    /// numbers.
    package static let recorded = SecretPlaceholder(text: "REDACTED", number: "0")
}
