public import Foundation

extension Redactor {
    /// Returns a body for people: its text, redacted and then cut, or its size and type.
    ///
    /// JSON and forms are redacted by the names in ``secretNames``, at any depth. So is text inside JSON strings: JSON,
    /// URLs, pairs such as `token=…`, and XML elements. A form value that contains any of these with a secret name is
    /// hidden as a whole. Other text, including XML, is shown only if none of its words is a secret name, and without
    /// passwords in URLs and private keys in PEM. Declared values are hidden in all of them, even one that the limit
    /// would cut. All other bodies appear as size and type,
    /// `<n bytes of type>`: other types, text that is not in its declared encoding, and JSON that is malformed or too
    /// large.
    ///
    /// - Parameters:
    ///   - data: the body.
    ///   - contentType: its Content-Type; without one, a body that looks like text is treated as text.
    ///   - limit: the maximum number of bytes of text to show, 0 and up; with 0, only the size is shown.
    /// - Returns: the text, or the size and type.
    public func bodyText(_ data: Data, contentType: String?, limit: Int) -> String {
        precondition(limit >= 0, "limit is \(limit), not 0 or more")
        let type = MediaType(contentType ?? "")
        guard limit > 0, !data.isEmpty, let shown = shownText(data, type, limit: limit) else {
            return description(byteCount: data.count, of: MediaType(text(contentType ?? "")))
        }
        let cut = shown.text.prefix(byteCount: limit)
        let text = String(cut).escapingControls(keeping: "\t\n\r")
        let isWhole = shown.isWhole && cut.endIndex == shown.text.endIndex
        return isWhole ? text : text + " <cut, \(data.count) bytes in all>"
    }

    /// Returns the whole text of a body, redacted; `nil` if it is larger than the limit, not text, or must not be
    /// shown.
    package func wholeText(_ data: Data, contentType: String?, limit: Int) -> String? {
        guard data.count <= limit else { return nil }
        guard let shown = shownText(data, MediaType(contentType ?? ""), limit: limit), shown.isWhole else { return nil }
        return shown.text
    }

    private func description(byteCount: Int, of type: MediaType) -> String {
        let name = type.essence.isEmpty ? "unknown type" : String(type.essence.prefix(64)).escapingControls
        return "<\(byteCount) bytes of \(name)>"
    }

    /// Returns the text that may be shown, and whether it is complete; `nil` if nothing may be shown.
    private func shownText(_ data: Data, _ type: MediaType, limit: Int) -> (text: String, isWhole: Bool)? {
        guard type.isText else { return nil }
        let bound = revealsSecrets ? limit : max(limit, parsedBodyByteCount)
        guard let text = Self.text(data.prefix(bound), type, isWhole: data.count <= bound) else { return nil }
        if !revealsSecrets {
            let isParsed = data.count <= parsedBodyByteCount
            if type.isForm { return isParsed ? form(text).map { (self.text($0), true) } : nil }
            if isParsed, let json = JSONRedaction.redacted(text, by: self) { return (json, true) }
            if type.isJSON || names.contains(wordOf: text) { return nil }
        }
        if data.count <= bound { return (self.text(hidingNames(in: text)), true) }
        return hidingValues(in: data, type, text).map { (hidingNames(in: $0), false) }
    }

    /// Returns the beginning of a body with the declared values hidden, including those that end after it.
    private func hidingValues(in data: Data, _ type: MediaType, _ beginning: String) -> String? {
        guard let secretValues else { return beginning }
        let width = type.charset?.hasPrefix("utf-16") ?? false ? 2 : 1
        let bound = min(data.count, width * (beginning.utf8.count + secretValues.longestForm))
        guard let more = Self.text(data.prefix(bound), type, isWhole: bound == data.count) else { return nil }
        return secretValues.hiding(in: more, upTo: beginning.utf8.count)
    }

    /// Returns the bytes as text, without a broken character at a cut end; `nil` if they are not text.
    private static func text(_ data: Data, _ type: MediaType, isWhole: Bool) -> String? {
        guard var encoding = MediaType.encoding(ofCharset: type.charset ?? "utf-8") else { return nil }
        var data = data
        // The charset may be wrong, and names in text that is decoded wrongly would not be found.
        if encoding != .utf8, MediaType.isUTF8(data) { encoding = .utf8 }
        if encoding == .utf8, !isWhole {
            for _ in 0..<3 where String(data: data, encoding: .utf8) == nil { data.removeLast() }
        }
        guard let text = String(data: data, encoding: encoding), !text.utf8.contains(0) else { return nil }
        return text
    }

    /// Returns the redacted form; `nil` if a name is not valid, as in JSON that was sent with the wrong type.
    private func form(_ text: String) -> String? {
        var isForm = true
        let shown = Self.mapItems(of: text[...]) { item, name in
            isForm = isForm && name.allSatisfy { $0.isLetter || $0.isNumber || " _-.:$@[]…".contains($0) }
            let isValue = !item.isEmpty && !item.utf8.contains(UInt8(ascii: "="))
            let isHidden = isValue || names.contains(name, in: .form) || holdsSecretName(inValueOf: item)
            return isHidden ? Self.hidden(item) : String(item)
        }
        return isForm ? shown : nil
    }
}

extension String {
    /// Returns the first characters, as many as fit into the given number of bytes in UTF-8.
    func prefix(byteCount: Int) -> Substring {
        guard utf8.count > byteCount else { return self[...] }
        // An index inside a character of several bytes is rounded down to its beginning.
        return self[..<utf8.index(startIndex, offsetBy: byteCount)]
    }
}
