#if Crypto || canImport(CryptoKit)
/// The reason why a webhook is not accepted, or cannot be signed.
///
/// It contains no value of the message and no key.
public struct WebhookError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with a webhook.
    public struct Reason: Sendable, Hashable {
        let rawValue: String

        /// The text is not a key, or the key cannot sign.
        public static let invalidKey = Self(rawValue: "invalidKey")
        /// A field is missing, is repeated, or is malformed.
        public static let malformed = Self(rawValue: "malformed")
        /// The timestamp is too far in the past.
        public static let expired = Self(rawValue: "expired")
        /// The timestamp is too far in the future.
        public static let inFuture = Self(rawValue: "inFuture")
        /// No signature belongs to the message and one of the keys.
        public static let signatureMismatch = Self(rawValue: "signatureMismatch")
    }

    /// The first problem that was found.
    public let reason: Reason
    /// The field that the reason is about; `nil` for other reasons.
    public let field: String?

    init(_ reason: Reason, _ field: String? = nil) {
        self.reason = reason
        self.field = field
    }

    /// The reason, and the field if there is one.
    public var description: String { field.map { "\(reason.rawValue): \($0)" } ?? reason.rawValue }
}
#endif
