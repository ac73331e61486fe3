extension URLText {
    /// Returns the scheme and host of a URL that cannot be requested, for its error.
    ///
    /// Path, query and fragment are shown as `…`. In a malformed URL, user info may extend past a slash or a question
    /// mark. Nothing before the last `@` is therefore shown, nor a port that is not a number.
    static func shown(_ url: String) -> String {
        let bytes = url.utf8
        let start = url.firstRange(of: "://")?.upperBound ?? bytes.startIndex
        let end = bytes[start...].firstIndex(where: isDelimiter) ?? bytes.endIndex
        let rest = bytes[end...]
        let tail = rest.first.map { String(UnicodeScalar($0)) + hidden } ?? ""
        let host = rest.contains(UInt8(ascii: "@")) ? hidden : shownHost(bytes[start..<end])
        return (String(url[..<start]) + host + tail).quotedExcerpt
    }

    private static func shownHost(_ authority: Substring.UTF8View) -> String {
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        let host = at.map { authority[authority.index(after: $0)...] } ?? authority
        // If an @ may be escaped, user info cannot be distinguished from the host.
        guard !host.contains(UInt8(ascii: "%")) else { return hidden }
        let shown = at == nil ? "" : hidden + "@"
        guard host.first != UInt8(ascii: "["), let colon = host.firstIndex(of: UInt8(ascii: ":")),
            !host[host.index(after: colon)...].allSatisfy({ (0x30...0x39).contains($0) })
        else { return shown + String(Substring(host)) }
        return shown + String(Substring(host[...colon])) + hidden
    }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static let hidden = "…"
}
