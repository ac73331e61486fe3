#if AsyncHTTPClient
import NIOSSL

/// A certificate that TLS must not accept from a server any more, although NIOSSL does: its RSA key has less than 2048
/// bits, or it is signed with SHA-1 or MD5.
///
/// Source: CA/Browser Forum, Baseline Requirements §6.1.5 and §7.1.3; RFC 9155 §3 (SHA-1 and MD5),
/// https://www.rfc-editor.org/rfc/rfc9155.html#section-3
enum WeakCertificate: Error {
    case key(bitCount: Int)
    case signature

    static let minimumBitCount = 2048

    /// `rsaEncryption`, RFC 3279 §2.3.1.
    private static let rsa: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
    /// `md5WithRSAEncryption`, `sha1WithRSAEncryption`, `dsa-with-sha1` and `ecdsa-with-SHA1`, RFC 3279 §2.2.
    private static let signatures: [[UInt8]] = [
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x04],
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x05],
        [0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x03],
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01],
    ]

    /// Returns why a certificate is weak; `nil` if it is not.
    static func fault(of certificate: NIOSSLCertificate) -> WeakCertificate? {
        fault(
            certificate: (try? certificate.toDERBytes()) ?? [],
            key: (try? certificate.extractPublicKey().toSPKIBytes()) ?? []
        )
    }

    /// Returns why a certificate is weak.
    ///
    /// - Parameters:
    ///   - certificate: the DER form of the certificate.
    ///   - key: the DER form of its SubjectPublicKeyInfo.
    /// - Returns: the reason; `nil` if it is not weak.
    static func fault(certificate: [UInt8], key: [UInt8]) -> WeakCertificate? {
        var info = DER(key).inside
        let algorithm = info.next()?.inside.first?.content
        // A BIT STRING begins with the number of unused bits, which is 0.
        if let algorithm, algorithm.elementsEqual(rsa), let bits = info.next()?.content.dropFirst() {
            let modulus = DER(Array(bits)).inside.first?.content.drop { $0 == 0 } ?? []
            let bitCount = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
            if bitCount < minimumBitCount { return .key(bitCount: bitCount) }
        }
        var parts = DER(certificate).inside
        _ = parts.next()
        let signature = parts.next()?.inside.first?.content
        return signature.map { signature in signatures.contains { $0.elementsEqual(signature) } } == true
            ? .signature : nil
    }
}

/// Reads values in DER, one after the other.
///
/// Source: ITU-T X.690 §8.1
private struct DER: Sequence, IteratorProtocol {
    struct Value {
        let content: ArraySlice<UInt8>

        /// The values in this one.
        var inside: DER { DER(rest: content) }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    private init(rest: ArraySlice<UInt8>) { self.rest = rest }

    /// The values in the first value.
    var inside: DER { first?.inside ?? DER([]) }

    var first: Value? {
        var copy = self
        return copy.next()
    }

    mutating func next() -> Value? {
        let bytes = rest.dropFirst()
        guard let first = bytes.first else { return nil }
        var count = Int(first)
        var content = bytes.dropFirst()
        if first >= 0x80 {
            let lengthCount = Int(first & 0x7F)
            guard (1...4).contains(lengthCount), content.count >= lengthCount else { return nil }
            count = content.prefix(lengthCount).reduce(0) { $0 << 8 | Int($1) }
            content = content.dropFirst(lengthCount)
        }
        guard content.count >= count else { return nil }
        rest = content.dropFirst(count)
        return Value(content: content.prefix(count))
    }
}
#endif
