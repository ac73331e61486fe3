#if Crypto || canImport(CryptoKit)
/// Percent-encoding of bytes, which need not be UTF-8.
enum PercentCoding {
    /// Percent-encodes all bytes but letters, digits, and the given characters.
    static func encoded(_ source: some Sequence<UInt8>, keeping plain: [UInt8]) -> String {
        var bytes: [UInt8] = []
        for byte in source {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: bytes.append(byte)
            case _ where plain.contains(byte): bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the bytes of a text that may be encoded only in part.
    static func decoded(_ text: Substring.UTF8View, plusIsBlank: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = value(of: rest.prefix(2)) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return bytes
    }

    private static func value(of pair: Substring.UTF8View) -> UInt8? {
        let digits = pair.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return digits.count == 2 ? UInt8(digits[0] << 4 | digits[1]) : nil
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
#endif
