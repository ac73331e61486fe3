/// Splits cookies that Foundation or the writer of a HAR file has joined, although Set-Cookie is the one field whose
/// values must not be joined by commas.
///
/// Source: RFC 6265 §3, https://www.rfc-editor.org/rfc/rfc6265.html#section-3
package enum SetCookieSplitting {
    /// Returns the cookies in a joined field.
    ///
    /// A comma separates two cookies if a name and an equals sign follow. The comma of a date is followed by a number
    /// and a space.
    ///
    /// - Parameters:
    ///   - joined: the value of the field.
    ///   - needsBlank: whether a comma separates cookies only if a space follows it.
    /// - Returns: the cookies, at least one.
    package static func values(of joined: String, needsBlank: Bool = true) -> [String] {
        let bytes = Array(joined.utf8)
        var values: [String] = []
        var start = 0
        var index = 0
        while index < bytes.count {
            let next = index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: " ") ? index + 2 : index + 1
            if bytes[index] == UInt8(ascii: ","), !needsBlank || next == index + 2, beginsCookie(bytes[next...]) {
                values.append(String(decoding: bytes[start..<index], as: UTF8.self))
                start = next
            }
            index += 1
        }
        values.append(String(decoding: bytes[start...], as: UTF8.self))
        return values
    }

    private static func beginsCookie(_ bytes: ArraySlice<UInt8>) -> Bool {
        let name = bytes.prefix(while: isTokenByte)
        return !name.isEmpty && name.endIndex < bytes.endIndex && bytes[name.endIndex] == UInt8(ascii: "=")
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, 0x7f...: false
        default: !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
        }
    }
}
