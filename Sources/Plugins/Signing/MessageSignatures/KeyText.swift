#if Crypto || canImport(CryptoKit)
import Foundation

/// Reads the containers of keys, PEM and DER.
enum KeyText {
    /// Returns the DER bytes of the first key in a PEM text.
    ///
    /// Source: RFC 7468, https://www.rfc-editor.org/rfc/rfc7468.html
    static func der(ofPEM text: String) throws(MessageSignatureError) -> Data {
        var body: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("KEY-----") {
                guard !line.contains("ENCRYPTED") else { break }
                body = ""
            } else if line.hasPrefix("-----END "), let body {
                guard let der = Data(base64Encoded: body) else { break }
                return der
            } else {
                body? += line
            }
        }
        throw MessageSignatureError(.invalidKey)
    }

    /// Returns the private key within PKCS #8; `nil` if the bytes are not PKCS #8.
    ///
    /// Source: RFC 5958, https://www.rfc-editor.org/rfc/rfc5958.html
    static func keyOfPKCS8(_ der: Data, algorithm: [UInt8]) -> Data? {
        var outer = Reader(der)
        guard var sequence = outer.next(0x30), sequence.next(0x02) != nil, var identifier = sequence.next(0x30),
            identifier.next(0x06)?.bytes.elementsEqual(algorithm) == true
        else { return nil }
        return sequence.next(0x04).map { Data($0.bytes) }
    }

    /// Returns the public key within a SubjectPublicKeyInfo; `nil` if the bytes are not one.
    static func keyOfSPKI(_ der: Data, algorithm: [UInt8]) -> Data? {
        var outer = Reader(der)
        guard var sequence = outer.next(0x30), var identifier = sequence.next(0x30),
            identifier.next(0x06)?.bytes.elementsEqual(algorithm) == true,
            let bits = sequence.next(0x03), bits.bytes.first == 0
        else { return nil }
        return Data(bits.bytes.dropFirst())
    }

    /// Returns the content of an octet string.
    static func octets(_ der: Data) -> Data? {
        var reader = Reader(der)
        return reader.next(0x04).map { Data($0.bytes) }
    }

    /// The object identifier 1.3.101.112.
    static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
    /// The object identifier 1.2.840.113549.1.1.10.
    static let rsaPSS: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A]

    /// A reader of elements with definite lengths.
    private struct Reader {
        var bytes: ArraySlice<UInt8>

        init(_ data: Data) { bytes = Array(data)[...] }

        private init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

        /// Returns the content of the next element; `nil` if it has another tag.
        mutating func next(_ tag: UInt8) -> Reader? {
            guard bytes.popFirst() == tag, let first = bytes.popFirst() else { return nil }
            var count = Int(first)
            if first >= 0x80 {
                guard (1...3).contains(first & 0x7F) else { return nil }
                count = 0
                for _ in 0..<(first & 0x7F) {
                    guard let byte = bytes.popFirst() else { return nil }
                    count = count << 8 | Int(byte)
                }
            }
            guard count <= bytes.count else { return nil }
            defer { bytes = bytes.dropFirst(count) }
            return Reader(bytes.prefix(count))
        }
    }
}
#endif
