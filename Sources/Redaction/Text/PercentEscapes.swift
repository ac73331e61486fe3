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
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
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
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: result.append(byte)
            default: result += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 0xf)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let hex = Array("0123456789ABCDEF".utf8)

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x57
        default: nil
        }
    }
}
