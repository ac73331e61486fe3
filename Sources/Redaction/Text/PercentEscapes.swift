/// Percent-encoding of arbitrary bytes; invalid escapes remain unchanged.
///
/// Source: RFC 3986 §2.1, https://www.rfc-editor.org/rfc/rfc3986.html#section-2.1
package enum PercentEscapes {
    /// Resolves the escapes in a text.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - plus: the byte that replaces a plus sign, a space in forms.
    /// - Returns: the bytes, which need not be UTF-8.
    package static func decoded(_ bytes: some Collection<UInt8>, plus: UInt8) -> [UInt8] {
        let bytes = Array(bytes)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = bytes[index + 1].hexDigit,
                let low = bytes[index + 2].hexDigit
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index] == UInt8(ascii: "+") ? plus : bytes[index])
                index += 1
            }
        }
        return result
    }

    /// Returns the bytes with all but letters, digits and `-._~` as `%XX`.
    package static func encoded(_ bytes: some Collection<UInt8>) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte.isAlphanumeric || "-._~".utf8.contains(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 0xf)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let hex = Array("0123456789ABCDEF".utf8)
}
