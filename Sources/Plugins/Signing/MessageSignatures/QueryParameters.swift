#if Crypto || canImport(CryptoKit)
/// The parameters of a query, as forms encode them.
///
/// Source: RFC 9421 §2.2.8, https://www.rfc-editor.org/rfc/rfc9421.html#section-2.2.8
enum QueryParameters {
    /// Returns the encoded value of the parameter with an encoded name; `nil` unless the name occurs once.
    static func value(of name: String, in query: String) -> String? {
        let values = query.utf8.split(separator: UInt8(ascii: "&")).compactMap { pair -> String? in
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard encoded(decoded(pair[..<end]).utf8) == name else { return nil }
            return encoded(decoded(pair[end...].dropFirst()).utf8)
        }
        return values.count == 1 ? values.first : nil
    }

    /// Percent-encodes everything but letters, digits, and `*-._`.
    static func encoded(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                text.append(byte)
            default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Decodes a part of a form; bytes that are not UTF-8 become U+FFFD.
    private static func decoded(_ part: Substring.UTF8View) -> String {
        var bytes: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), rest.count >= 2, let value = hexadecimal(rest.prefix(2)) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hexadecimal(_ digits: Substring.UTF8View) -> UInt8? {
        var value: UInt8 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | (digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | (digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | (digit - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return value
    }
}
#endif
