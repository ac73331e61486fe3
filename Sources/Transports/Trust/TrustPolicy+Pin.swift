import Foundation
import PipelineHashes

extension TrustPolicy {
    /// The SHA-256 hash of a public key, which identifies the key of a server's certificate.
    ///
    /// The hash covers the certificate's SubjectPublicKeyInfo in DER, so that a renewed certificate with the same key
    /// keeps its pin. It is written as `sha256/` and 44 characters of Base64. It is not a secret.
    ///
    /// ```swift
    /// let pin: TrustPolicy.Pin = "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    /// ```
    ///
    /// Source: RFC 7469 §2.4, https://www.rfc-editor.org/rfc/rfc7469.html#section-2.4
    public struct Pin: Sendable, Hashable {
        private static let prefix = "sha256/"

        private let digest: [UInt8]

        /// Parses a pin; returns `nil` if the text is not `sha256/` and the Base64 form of 32 bytes.
        public init?(_ text: String) {
            guard text.hasPrefix(Self.prefix),
                let digest = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
                digest.count == 32
            else { return nil }
            self.digest = Array(digest)
        }

        /// Hashes a public key.
        ///
        /// - Parameter bytes: the SubjectPublicKeyInfo in DER.
        public init(subjectPublicKeyInfo bytes: [UInt8]) {
            digest = SHA256.hash(bytes)
        }
    }
}

extension TrustPolicy.Pin: ExpressibleByStringLiteral {
    /// Creates a pin from a literal; an invalid one stops the program.
    public init(stringLiteral text: String) {
        guard let pin = TrustPolicy.Pin(text) else {
            preconditionFailure("\"\(text)\" is not a pin: write sha256/ and the Base64 form of a SHA-256 hash")
        }
        self = pin
    }
}

extension TrustPolicy.Pin: CustomStringConvertible {
    /// The pin as it is written.
    public var description: String { Self.prefix + Data(digest).base64EncodedString() }
}
