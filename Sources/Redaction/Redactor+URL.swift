// Everything here looks at bytes: as characters, a "?" or "=" may have melted into a combining mark that follows it.
extension Redactor {
    /// A URL or a reference to one for people: query values and the fragment as `…`, without user name and password.
    ///
    /// A parameter in the path follows ``secretNames``, and so does what the value of a shown query item holds: JSON, a URL, pairs. An item of
    /// the query without `=` counts as a value. Text that is no URL is treated as if it were one.
    public func url(_ text: String) -> String {
        let fragment = text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex
        let query = text[..<fragment].utf8.firstIndex(of: UInt8(ascii: "?")) ?? fragment
        var result = location(text[..<query])
        // Parameters of a path segment, such as `;jsessionid=…`.
        if result.utf8.contains(UInt8(ascii: "=")) { result = hidingNames(in: result) }
        if query != fragment {
            let items = text[text.utf8.index(after: query)..<fragment]
            result += "?" + (revealsSecrets ? String(items) : shownQuery(items))
        }
        if fragment != text.endIndex {
            result += revealsSecrets ? String(text[fragment...]) : "#" + Self.placeholder
        }
        return self.text(result).escapingControls
    }

    /// What stands before the query, without user name and password.
    private func location(_ text: Substring) -> String {
        let bytes = text.utf8
        var rest = bytes[...]
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[..<colon].allSatisfy(Self.isSchemeByte) {
            rest = bytes[bytes.index(after: colon)...]
            guard rest.starts(with: "//".utf8) else {
                return revealsSecrets ? String(text) : "\(text[..<colon]):" + Self.placeholder
            }
        }
        let start = rest.firstIndex { $0 != UInt8(ascii: "/") } ?? rest.endIndex
        let end = rest[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        if let at = rest[start..<end].lastIndex(of: UInt8(ascii: "@")) {
            return "\(text[..<start])\(Self.placeholder)\(text[at...])"
        }
        // `https://user:p#w@host` ends in its password.
        guard rest.starts(with: "//".utf8), Self.endsInPassword(rest[start..<end]) else { return String(text) }
        return "\(text[..<start])\(Self.placeholder)\(text[end...])"
    }

    /// Whether what follows the host of an authority without `@` is no port.
    private static func endsInPassword(_ authority: Substring.UTF8View) -> Bool {
        let host = authority.firstIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        guard let colon = authority[host...].firstIndex(of: UInt8(ascii: ":")) else { return false }
        return !authority[colon...].dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    private func shownQuery(_ items: Substring) -> String {
        Self.mapItems(of: items) { item, name in
            let isShown = mayShow(item, name) && !holdsSecretName(inValueOf: item)
            return item.isEmpty || isShown ? String(item) : Self.hidden(item)
        }
    }

    private func mayShow(_ item: Substring, _ name: String) -> Bool {
        if shownQueryNames.contains(name) { return true }
        return showsOrdinaryQueries && item.utf8.contains(UInt8(ascii: "=")) && !isSecret(name: name, in: .query)
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2b, 0x2d, 0x2e: true
        default: false
        }
    }

    // MARK: Items of queries and forms

    /// Replaces each item between two `&`, given with its decoded name.
    static func mapItems(
        of text: Substring,
        _ transform: (_ item: Substring, _ name: String) -> String
    ) -> String {
        text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { bytes in
            let item = text[bytes.startIndex..<bytes.endIndex]
            return transform(item, decodedName(of: item))
        }.joined(separator: "&")
    }

    /// An item with its value hidden; without `=` all of it is value.
    static func hidden(_ item: Substring) -> String {
        guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return placeholder }
        return "\(item[..<equals])=\(placeholder)"
    }

    static func decodedName(of item: Substring) -> String {
        let name = item[..<(item.utf8.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex)]
        return String(decoding: PercentEscapes.decoded(name.utf8, plus: 0x20), as: UTF8.self)
    }
}
