/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
    /// Appends bytes, and writes those outside `allowed` as `%XX` with uppercase digits.
    ///
    /// With `keepsEscapes`, a valid `%XX` stays unchanged, and so do control characters: the later check of the URL
    /// rejects a CR or LF. Otherwise, every `%` becomes `%25`.
    ///
    static func append(
        _ bytes: some Collection<UInt8>,
        to result: inout [UInt8],
        allowed: ByteSet,
        keepsEscapes: Bool
    ) {
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            if allowed.contains(byte) {
                result.append(byte)
            } else if keepsEscapes, byte < 0x20 || byte == 0x7f {
                result.append(byte)
            } else if keepsEscapes, byte == UInt8(ascii: "%"), isEscape(bytes, at: index) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result.append(digit(byte >> 4))
                result.append(digit(byte & 0xf))
            }
            bytes.formIndex(after: &index)
        }
    }

    /// Returns a query with all invalid characters escaped; `%` with two hexadecimal digits stays unchanged.
    package static func query(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text.utf8, to: &bytes, allowed: .query, keepsEscapes: true)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a query name or value: space becomes `%20`, `+` becomes `%2B`.
    static func appendFormValue(_ text: String, to result: inout String) {
        guard !text.utf8.allSatisfy({ ByteSet.formValue.contains($0) }) else {
            result += text
            return
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3)
        append(text.utf8, to: &bytes, allowed: .formValue, keepsEscapes: false)
        result += String(decoding: bytes, as: UTF8.self)
    }

    private static func isEscape<Bytes: Collection<UInt8>>(_ bytes: Bytes, at index: Bytes.Index) -> Bool {
        let digits = bytes[index...].dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { ByteSet.hexDigits.contains($0) }
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
