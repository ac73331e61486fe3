// Everything here works on bytes: as a character, a "?" or "=" may have merged with a combining mark that follows it.
extension Redactor {
    /// Returns a URL or a URL reference for people: query values and fragment as `…`, without user name and password.
    ///
    /// Parameters in the path follow ``secretNames``, and so do JSON, URLs and pairs in the value of a shown query
    /// item. A query item without `=` counts as a value. Text that is not a URL is treated as if it were one.
    public func url(_ text: String) -> String {
        let fragment = text[...].firstIndex(ofByte: UInt8(ascii: "#")) ?? text.endIndex
        let query = text[..<fragment].firstIndex(ofByte: UInt8(ascii: "?")) ?? fragment
        var result = ""
        result.reserveCapacity(text.utf8.count + Self.placeholderRoom)
        appendLocation(text[..<query], to: &result)
        // Parameters of a path segment, such as `;jsessionid=…`.
        if result[...].firstIndex(ofByte: UInt8(ascii: "=")) != nil { result = hidingNames(in: result) }
        if query != fragment {
            let items = text[text.utf8.index(after: query)..<fragment]
            result += "?"
            if revealsSecrets { result += items } else { appendShownQuery(items, to: &result) }
        }
        if fragment != text.endIndex {
            if revealsSecrets { result += text[fragment...] } else { result += "#" + Self.placeholder }
        }
        return self.text(result).escapingControls
    }

    /// Placeholders may be longer than the text that they replace.
    private static let placeholderRoom = 32

    /// Appends the URL up to the query, without user name and password.
    private func appendLocation(_ text: Substring, to result: inout String) {
        let bytes = text.utf8
        var rest = bytes[...]
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[..<colon].allSatisfy({ $0.isAlphanumeric || "+-.".utf8.contains($0) })
        {
            rest = bytes[bytes.index(after: colon)...]
            guard rest.starts(with: "//".utf8) else {
                if revealsSecrets { result += text } else { result += text[..<colon] + ":" + Self.placeholder }
                return
            }
        }
        let start = rest.firstIndex { $0 != UInt8(ascii: "/") } ?? rest.endIndex
        let end = rest[start...].firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
        let shown: Substring.Index
        if let at = rest[start..<end].lastIndex(of: UInt8(ascii: "@")) {
            shown = at
        } else if rest.starts(with: "//".utf8), Self.endsInPassword(rest[start..<end]) {
            // `https://user:p#w@host` ends with its password.
            shown = end
        } else {
            result.append(contentsOf: text)
            return
        }
        result.append(contentsOf: text[..<start])
        result += Self.placeholder
        result.append(contentsOf: text[shown...])
    }

    /// Returns whether the text after the host of an authority without `@` is something other than a port.
    private static func endsInPassword(_ authority: Substring.UTF8View) -> Bool {
        let host = authority.firstIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        guard let colon = authority[host...].firstIndex(of: UInt8(ascii: ":")) else { return false }
        return !authority[colon...].dropFirst().allSatisfy(\.isDigit)
    }

    private func appendShownQuery(_ items: Substring, to result: inout String) {
        items.forEachItem(separatedBy: UInt8(ascii: "&")) { item in
            if item.startIndex != items.startIndex { result += "&" }
            if item.isEmpty || mayShow(item) {
                result += item
            } else {
                if let equals = item.firstIndex(ofByte: UInt8(ascii: "=")) { result += item[..<equals] + "=" }
                result += Self.placeholder
            }
        }
    }

    private func mayShow(_ item: Substring) -> Bool {
        if shownQueryNames.isEmpty, !showsOrdinaryQueries { return false }
        let name = Self.decodedName(of: item)
        let isOrdinary = item.utf8.contains(UInt8(ascii: "=")) && !isSecret(name: name, in: .query)
        if markedQueryNames.contains(name) { return false }
        let isShown = shownQueryNames.contains(name) || showsOrdinaryQueries && isOrdinary
        return isShown && !holdsSecretName(inValueOf: item)
    }

    // MARK: Items of queries and forms

    /// Replaces each item between two `&`; the closure gets the item and its decoded name.
    static func mapItems(
        of text: Substring,
        _ transform: (_ item: Substring, _ name: String) -> String
    ) -> String {
        var result = ""
        text.forEachItem(separatedBy: UInt8(ascii: "&")) { item in
            if item.startIndex != text.startIndex { result += "&" }
            result += transform(item, decodedName(of: item))
        }
        return result
    }

    /// Returns an item with its value hidden; an item without `=` is all value.
    static func hidden(_ item: Substring) -> String {
        guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return placeholder }
        return "\(item[..<equals])=\(placeholder)"
    }

    static func decodedName(of item: Substring) -> String {
        let name = item[..<(item.firstIndex(ofByte: UInt8(ascii: "=")) ?? item.endIndex)]
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
            return String(name)
        }
        return String(decoding: PercentEscapes.decoded(name.utf8, plus: 0x20), as: UTF8.self)
    }
}
