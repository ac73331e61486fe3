/// The place of a secret value in a message.
package struct SecretOrigin: Sendable, Hashable {
    /// The kind of place; if a value is in several places, the first kind counts.
    package enum Kind: Int, Sendable {
        case field, cookie, query, form
    }

    package let kind: Kind
    /// The name of the field, cookie or item.
    package let name: Substring
}
