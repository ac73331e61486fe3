/// The DER form of public keys, which Apple platforms do not offer for the keys that they export.
///
/// Source: RFC 5280 §4.1.2.7, https://www.rfc-editor.org/rfc/rfc5280.html#section-4.1.2.7; RFC 3279 §2.3.1 and RFC 5480
/// §2.1.1 (algorithms)
enum SubjectPublicKeyInfo {
    /// `rsaEncryption` with NULL parameters.
    private static let rsa: [UInt8] = [
        0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    /// `id-ecPublicKey`.
    private static let ec: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
    /// The curves by the length of an uncompressed point: P-256, P-384 and P-521.
    private static let curves: [Int: [UInt8]] = [
        65: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07],
        97: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22],
        133: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23],
    ]

    /// Returns the form of an RSA key in PKCS#1.
    static func rsa(_ key: [UInt8]) -> [UInt8] { encode(rsa, key) }

    /// Returns the form of an uncompressed point, or `nil` if it is on no known curve.
    static func ec(_ point: [UInt8]) -> [UInt8]? { curves[point.count].map { encode(ec + $0, point) } }

    private static func encode(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        value(0x30, value(0x30, algorithm) + value(0x03, [0] + key))
    }

    /// Returns a value with its tag and its length.
    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count > 127 else { return [tag, UInt8(content.count)] + content }
        let count = withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0.drop { $0 == 0 }) }
        return [tag, 0x80 | UInt8(count.count)] + count + content
    }
}
