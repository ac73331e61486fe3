import Foundation

/// Elements and attributes of XML.
///
/// A text that begins with `<` is treated as XML: only text between tags and quoted values are replaced, so that it
/// remains as well-formed as it was. In other texts, only elements that contain nothing but text are recognized.
extension SecretText {
    /// A tag that is being read.
    struct Tag {
        let name: Range<Int>
        let isEnd: Bool
        /// The quotation mark of the value that is being read; 0 outside values.
        var quote: UInt8 = 0
        /// Whether the value of an attribute `name` or `key` is a secret name.
        var isSecretPair = false
    }

    /// An element with a secret name; all text in it is hidden.
    struct HiddenElement {
        let name: ArraySlice<UInt8>
        /// The number of open elements with this name.
        var count = 1
    }

    private var isMarkup: Bool { start == UInt8(ascii: "<") }

    // MARK: Tags

    mutating func readTagStart() {
        tag = nil
        if isMarkup, skipIsland() { return }
        var start = index + 1
        if byte(start) == UInt8(ascii: "\\"), byte(start + 1) == UInt8(ascii: "/") { start += 1 }
        let isEnd = byte(start) == UInt8(ascii: "/")
        if isEnd { start += 1 }
        var end = start
        while let byte = byte(end), Self.isTagByte(byte), end - start < Self.longestName { end += 1 }
        if end > start { tag = Tag(name: start..<end, isEnd: isEnd) }
    }

    mutating func readTagQuote() {
        guard let tag else { return }
        if tag.quote == input[index] { self.tag?.quote = 0 }
        guard tag.quote == 0 else { return }
        var place = index - 1
        while let byte = byte(place), byte.isBlank || byte == UInt8(ascii: "\\") { place -= 1 }
        // Other quotation marks in tags belong to JSON or another text.
        if byte(place) == UInt8(ascii: "=") { self.tag?.quote = input[index] } else { self.tag = nil }
    }

    mutating func readTagEnd() {
        guard let tag, tag.quote == 0 else { return }
        self.tag = nil
        let isEmpty = byte(index - 1) == UInt8(ascii: "/")
        guard isMarkup else {
            if !tag.isEnd, !isEmpty, isSecret(localName(tag.name), .textMember), endsWithText(tag) { hideText() }
            return
        }
        let name = input[tag.name]
        if let hidden = hiddenElement {
            if !isEmpty, hidden.name == name { hiddenElement?.count += tag.isEnd ? -1 : 1 }
            if hiddenElement?.count == 0 { hiddenElement = nil }
        } else if !tag.isEnd, !isEmpty {
            let local = localName(tag.name)
            let isNamed = namesNextElement
            namesNextElement = isNameOfPair(local) && isSecret(text(before: endOfText), .textMember)
            if isNamed || isSecret(local, .member) || isSecret(local, .textMember) && endsWithText(tag) {
                hiddenElement = HiddenElement(name: name)
            }
        }
        if hiddenElement != nil { hideText() }
    }

    private func isNameOfPair(_ name: String) -> Bool { SecretPlaces.namesOfPairs.contains(name.lowercased()) }

    /// Returns the beginning of the text between the index and a place, without blanks.
    private func text(before end: Int) -> String {
        let text = input[(index + 1)..<end].drop(while: \.isBlank).prefix(Self.longestName)
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Returns whether the element whose tag has just been read contains nothing but text.
    private func endsWithText(_ tag: Tag) -> Bool {
        let end = endOfText
        guard end < input.count else { return isMarkup || !input[index...].contains(UInt8(ascii: "\"")) }
        let rest = input[(end + 1)...]
        if isMarkup, rest.starts(with: "![CDATA[".utf8) { return true }
        let name = rest.first == UInt8(ascii: "\\") ? rest.dropFirst() : rest
        return name.first == UInt8(ascii: "/") && name.dropFirst().starts(with: input[tag.name])
    }

    private var endOfText: Int { input[(index + 1)...].firstIndex(of: UInt8(ascii: "<")) ?? input.count }

    private mutating func hideText() {
        let end = endOfText
        hide(index + 1..<end)
        index = end - 1
    }

    /// Returns a name without its namespace prefix.
    private func localName(_ range: Range<Int>) -> String {
        let name = input[range]
        let start = name.lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? range.lowerBound
        return String(decoding: name[start...], as: UTF8.self)
    }

    // MARK: Attributes

    /// Hides the value of an attribute with a secret name; returns whether there is one.
    mutating func readAttribute() -> Bool {
        guard let tag, !tag.isEnd, tag.quote == 0 else { return false }
        var end = index
        while end > tag.name.upperBound, input[end - 1].isBlank { end -= 1 }
        var start = end
        while start > tag.name.upperBound, Self.isTagByte(input[start - 1]), end - start < Self.longestName {
            start -= 1
        }
        // A namespace declaration holds the address of the namespace.
        guard start < end, input[start - 1].isBlank || input[start - 1] == UInt8(ascii: "\\"),
            !input[start..<end].starts(with: "xmlns:".utf8)
        else { return false }
        let name = localName(start..<end)
        let isSecretValue = tag.isSecretPair && name.lowercased() == SecretPlaces.valueOfPairs
        guard isSecretValue || isNameOfPair(name) || isSecret(name, .member) else { return false }
        let open = input[(index + 1)...].firstIndex { !$0.isBlank && $0 != UInt8(ascii: "\\") } ?? input.count
        guard let quote = byte(open), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return false }
        let close = input[(open + 1)...].firstIndex { $0 == quote || $0 == UInt8(ascii: "<") } ?? input.count
        if isNameOfPair(name), !isSecret(name, .member) {
            let text = String(decoding: input[open + 1..<close].prefix(Self.longestName), as: UTF8.self)
            let isSecretName = isSecret(text, .textMember)
            self.tag?.isSecretPair = isSecretName
            return false
        }
        // In a JSON string, the backslashes before the quotation mark belong to it.
        let marks = byte(close) == quote ? input[..<open].reversed().prefix { $0 == UInt8(ascii: "\\") }.count : 0
        hide(open + 1..<max(close - marks, open + 1))
        index = byte(close) == quote ? close : close - 1
        return true
    }

    private static func isTagByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte >= 0x80 || "_-.:".utf8.contains(byte)
    }

    // MARK: Comments, CDATA, instructions, declarations

    /// Skips an island, which begins with `<!` or `<?` and contains no tags; returns whether the index was moved.
    private mutating func skipIsland() -> Bool {
        guard let kind = Island.allCases.first(where: { input[index...].starts(with: $0.rawValue.utf8) }) else {
            return false
        }
        let start = index + kind.rawValue.utf8.count
        guard !unfinishedIslands.contains(kind), let end = end(of: kind, from: start) else {
            // Searched only once: a search from a later place finds no end either.
            unfinishedIslands.insert(kind)
            if hiddenElement == nil { return false }
            hide(start..<input.count)
            index = input.count
            return true
        }
        let content = start..<end.lowerBound
        if kind != .documentType {
            if hiddenElement != nil {
                hide(content)
            } else if let hidden = Self.hidden(in: Array(input[content]), names, placeholder, readsLines: readsLines) {
                replace(content, with: hidden)
            }
        }
        index = end.upperBound - 1
        if hiddenElement != nil { hideText() }
        return true
    }

    /// A section that does not consist of tags.
    ///
    /// No island contains its own end, so islands nest at most three deep. A document type may declare texts that look
    /// like tags, and is left alone.
    enum Island: String, CaseIterable {
        case comment = "<!--"
        case data = "<![CDATA["
        case instruction = "<?"
        case documentType = "<!DOCTYPE"
    }

    private func end(of island: Island, from start: Int) -> Range<Int>? {
        switch island {
        case .comment: return range(of: "-->", from: start)
        case .data: return range(of: "]]>", from: start)
        case .instruction: return range(of: "?>", from: start)
        case .documentType:
            let mark = input[start...].firstIndex { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: ">") }
            guard let mark, input[mark] == UInt8(ascii: "[") else { return mark.map { $0..<$0 + 1 } }
            var place = mark
            while let bracket = input[place...].firstIndex(of: UInt8(ascii: "]")) {
                place = input[(bracket + 1)...].firstIndex { !$0.isBlank } ?? input.count
                if byte(place) == UInt8(ascii: ">") { return bracket..<place + 1 }
            }
            return nil
        }
    }

    private func range(of text: String, from start: Int) -> Range<Int>? {
        first(text.utf8, from: start).map { $0..<$0 + text.utf8.count }
    }
}
