#if Crypto || canImport(CryptoKit)
/// The reason why a message cannot be signed, or why its signature is not accepted.
///
/// It contains names of components, but no value, key or signature.
public struct MessageSignatureError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with a signature.
    public struct Reason: Sendable, Hashable {
        let rawValue: String

        /// The message has no signature, or none with the expected tag.
        public static let missingSignature = Self(rawValue: "missingSignature")
        /// A field cannot be parsed, a label or a component is repeated, or a parameter has the wrong type.
        public static let malformed = Self(rawValue: "malformed")
        /// The fields are too long, or have too many signatures, components, members or parameters.
        public static let limit = Self(rawValue: "limit")
        /// There is no key for the signature.
        public static let unknownKey = Self(rawValue: "unknownKey")
        /// The signature states another algorithm than the one of its key.
        public static let algorithmMismatch = Self(rawValue: "algorithmMismatch")
        /// The signature does not state when it was created, and the verifier limits its age.
        public static let missingCreationTime = Self(rawValue: "missingCreationTime")
        /// The signature was created in the future.
        public static let createdInFuture = Self(rawValue: "createdInFuture")
        /// The signature has expired, or is older than the verifier allows.
        public static let expired = Self(rawValue: "expired")
        /// The message does not have the component, or the signature does not cover it although it is required.
        public static let missingComponent = Self(rawValue: "missingComponent")
        /// The component is not defined for the message, or has a value that cannot be signed.
        public static let unsupportedComponent = Self(rawValue: "unsupportedComponent")
        /// The signature does not belong to the message and the key.
        public static let signatureMismatch = Self(rawValue: "signatureMismatch")
        /// Content-Digest does not belong to the body, or has no supported algorithm.
        public static let digestMismatch = Self(rawValue: "digestMismatch")
        /// The text of a key is malformed, or is not a key of the algorithm.
        public static let invalidKey = Self(rawValue: "invalidKey")
    }

    /// The category of the failure, for a server to log or count.
    public let reason: Reason
    /// The component that the reason is about, such as `"@method"`; `nil` for other reasons.
    public let component: String?

    init(_ reason: Reason, _ component: String? = nil) {
        self.reason = reason
        self.component = component
    }

    /// The reason, and the component if there is one.
    public var description: String { component.map { "\(reason.rawValue): \($0)" } ?? reason.rawValue }
}
#endif
