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
        var values: [String] = []
        for part in joined.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let hasBlank = part.first == UInt8(ascii: " ")
            let cookie = hasBlank ? part.dropFirst() : part
            if values.isEmpty {
                values.append(String(Substring(part)))
            } else if hasBlank || !needsBlank, beginsCookie(cookie) {
                values.append(String(Substring(cookie)))
            } else {
                values[values.count - 1] += "," + Substring(part)
            }
        }
        return values
    }

    private static func beginsCookie(_ bytes: Substring.UTF8View) -> Bool {
        let name = bytes.prefix { (0x21...0x7e).contains($0) && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
        return !name.isEmpty && bytes[name.endIndex...].first == UInt8(ascii: "=")
    }
}
