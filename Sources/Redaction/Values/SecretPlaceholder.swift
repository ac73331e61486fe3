/// What is written in place of a hidden value.
package struct SecretPlaceholder: Sendable {
    package let text: String
    /// In place of a number in JSON.
    package let number: String

    /// For texts that people read.
    package static let shown = SecretPlaceholder(text: "…", number: "…")

    /// For recordings: ASCII, so that it is the same in a URL, a form, JSON and a header field, and numbers stay numbers.
    package static let recorded = SecretPlaceholder(text: "REDACTED", number: "0")
}
