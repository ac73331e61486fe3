#if Crypto || canImport(CryptoKit)
public import Foundation
public import HTTPTypes
import RawStructuredFieldValues
#if Crypto
import Crypto
#else
import CryptoKit
#endif

/// The hash algorithm of the field Content-Digest, which a signature covers in place of the body.
///
/// Source: RFC 9530 §2, https://www.rfc-editor.org/rfc/rfc9530.html#section-2
public struct ContentDigest: Sendable, Hashable, CustomStringConvertible {
    /// The name in the registry of hash algorithms, such as `sha-256`.
    public let name: String

    /// A hash of 32 bytes, by SHA-256.
    public static let sha256 = Self(name: "sha-256")
    /// A hash of 64 bytes, by SHA-512.
    public static let sha512 = Self(name: "sha-512")

    /// The name in the registry of hash algorithms.
    public var description: String { name }

    /// Returns the value of Content-Digest for a body as it is sent, which may be compressed.
    public func fieldValue(for body: Data) -> String {
        var hashes = BodyHashes([self])
        hashes.update(body)
        return fieldValue(hashes)
    }

    /// Checks that Content-Digest belongs to a body.
    ///
    /// Each hash of SHA-256 and SHA-512 in the field must match. Other algorithms are ignored.
    ///
    /// - Parameters:
    ///   - body: the body as it was received, before it is decompressed.
    ///   - fields: the header fields of the message.
    /// - Throws: ``MessageSignatureError`` with reason `missingComponent`, `malformed` or `digestMismatch`, the latter
    ///   also if the field has neither algorithm.
    public static func verify(_ body: Data, fields: HTTPFields) throws {
        guard fields.contains(.contentDigest) else {
            throw MessageSignatureError(.missingComponent, SignatureComponent.contentDigest.description)
        }
        try verify(body, fields: fields, keys: nil)
    }

    /// Checks the members with the given keys, or all of them.
    static func verify(_ body: Data, fields: HTTPFields, keys: Set<String>?) throws(MessageSignatureError) {
        var members = try StructuredFields.dictionary(fields[.contentDigest] ?? "")
        if let keys {
            for (key, _) in members where !keys.contains(key) { members[key] = nil }
        }
        var hashes = BodyHashes(BodyHashes.algorithms(of: members))
        hashes.update(body)
        guard hashes.match(members) else { throw MessageSignatureError(.digestMismatch) }
    }

    func fieldValue(_ hashes: BodyHashes) -> String {
        "\(name)=:\(hashes.value(of: self).base64EncodedString()):"
    }
}

/// The hashes of a body that is read in pieces.
struct BodyHashes {
    private var sha256: SHA256?
    private var sha512: SHA512?

    init(_ algorithms: Set<ContentDigest>) {
        sha256 = algorithms.contains(.sha256) ? SHA256() : nil
        sha512 = algorithms.contains(.sha512) ? SHA512() : nil
    }

    /// Returns the known algorithms of a field.
    static func algorithms(of members: StructuredFields.Members) -> Set<ContentDigest> {
        Set([ContentDigest.sha256, .sha512].filter { members[$0.name] != nil })
    }

    mutating func update(_ piece: Data) {
        sha256?.update(data: piece)
        sha512?.update(data: piece)
    }

    /// Returns a hash; empty if it was not asked for.
    func value(of algorithm: ContentDigest) -> Data {
        let value = algorithm == .sha512 ? sha512.map { Data($0.finalize()) } : sha256.map { Data($0.finalize()) }
        return value ?? Data()
    }

    /// Returns whether the field has a known algorithm, and no hash that differs.
    func match(_ members: StructuredFields.Members) -> Bool {
        let algorithms = Self.algorithms(of: members)
        return !algorithms.isEmpty
            && algorithms.allSatisfy { algorithm in
                members[algorithm.name].flatMap(StructuredFields.bytes) == value(of: algorithm)
            }
    }
}

extension HTTPField.Name {
    static let contentDigest = HTTPField.Name("Content-Digest") ?? .eTag
    static let signature = HTTPField.Name("Signature") ?? .eTag
    static let signatureInput = HTTPField.Name("Signature-Input") ?? .eTag
}
#endif
