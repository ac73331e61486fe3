import Foundation

/// `name=value` in URLs and other texts, and `name: value` in lines.
extension SecretText {
    // MARK: Pairs

    /// Hides the value after `?name=`, `&name=`, `#name=` and their escaped forms, and after `name=` that begins the
    /// text or follows a blank, a comma, a semicolon or another `=`.
    mutating func readEquals() {
        var start = index
        while let byte = byte(start - 1), Self.isNameByte(byte), index - start < Self.longestName { start -= 1 }
        // The beginning of the text is like a blank.
        let mark = byte(start - 1) ?? UInt8(ascii: " ")
        var place = SecretPlaces.query
        if mark == UInt8(ascii: "\\"), input[start...].starts(with: "u0026".utf8) {
            start += 5
        } else if !"?&#".utf8.contains(mark), !input[..<start].suffix(5).elementsEqual("&amp;".utf8) {
            guard mark.isBlank || ";,=".utf8.contains(mark) else { return }
            place = .member
        }
        guard start < index else { return }
        let name = String(decoding: PercentEscapes.decoded(input[start..<index], plus: 0x20), as: UTF8.self)
        guard isSecret(name, place) else { return }
        if place == .member, let quoted = quotedValue(from: index + 1) {
            hide(quoted)
            index = quoted.upperBound
            return
        }
        let isEnd: (UInt8) -> Bool = { byte in
            byte <= 0x20 || "&#;\"'<>\\)]}".utf8.contains(byte) || place == .member && byte == UInt8(ascii: ",")
        }
        let end = input[(index + 1)...].firstIndex(where: isEnd) ?? input.count
        replace(index + 1..<end, with: placeholder.text.utf8)
        index = end - 1
    }

    /// Returns the range between two quotation marks on a line, in text that is neither JSON nor XML.
    private func quotedValue(from open: Int) -> Range<Int>? {
        guard readsLines, let start, !"<{[\"".utf8.contains(start) else { return nil }
        guard let quote = byte(open), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return nil }
        let close = input[(open + 1)...].firstIndex { $0 == quote || $0 == 0x0a || $0 == 0x0d } ?? input.count
        return byte(close) == quote ? open + 1..<close : nil
    }

    // MARK: Lines

    /// Hides the value after `name:` or `name=` at the beginning of a line; the name is one word or two.
    ///
    /// Does nothing in XML, where a line may end within a tag. In JSON, lines begin with quotation marks.
    ///
    /// - Returns: whether a value was found.
    mutating func readLine() -> Bool {
        guard readsLines, start != UInt8(ascii: "<"), let name = nameOfLine() else { return false }
        let isPair = input[index] == UInt8(ascii: "=")
        if byte(index + 1) == input[index] || !isPair && input[(index + 1)...].starts(with: "//".utf8) { return false }
        guard isSecret(name, .member) else { return false }
        let start = input[(index + 1)...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? input.count
        var end = input[start...].firstIndex { $0 == 0x0a || $0 == 0x0d } ?? input.count
        if isPair { end = endOfItem(start..<end) }
        while end > start, input[end - 1].isBlank { end -= 1 }
        guard start < end, input[start] != UInt8(ascii: "{"), input[start] != UInt8(ascii: "[") else { return false }
        let quote = input[start]
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
            let close = input[(start + 1)..<end].lastIndex(of: quote)
        {
            hide(start + 1..<close)
        } else {
            hide(start..<end)
        }
        index = end - 1
        return true
    }

    /// Returns the one or two words between the beginning of the line and the index.
    private func nameOfLine() -> String? {
        var start = index
        while let byte = byte(start - 1), byte != 0x0a, byte != 0x0d {
            guard byte == 0x20 || byte == 0x09 || Self.isNameByte(byte), index - start < Self.longestLineName else {
                return nil
            }
            start -= 1
        }
        var words = input[start..<index].split { $0 == 0x20 || $0 == 0x09 }
        // The marker of a list item.
        if words.first?.elementsEqual("-".utf8) == true { words.removeFirst() }
        guard (1...2).contains(words.count) else { return nil }
        return words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// Returns where `&name=` begins, or the end.
    private func endOfItem(_ range: Range<Int>) -> Int {
        var place = range.lowerBound
        while let mark = input[place..<range.upperBound].firstIndex(of: UInt8(ascii: "&")) {
            place = input[(mark + 1)..<range.upperBound].firstIndex { !Self.isNameByte($0) } ?? range.upperBound
            if place > mark + 1, place < range.upperBound, input[place] == UInt8(ascii: "=") { return mark }
        }
        return range.upperBound
    }

    // MARK: URLs

    /// Hides the user name and the password of a URL.
    mutating func readSlash() {
        guard let before = byte(index - 1) else { return }
        let isStart =
            before == UInt8(ascii: "/") && (byte(index - 2) ?? UInt8(ascii: ":")) == UInt8(ascii: ":")
            || before == UInt8(ascii: "\\") && input[..<index].suffix(4).elementsEqual(":\\/\\".utf8)
        guard isStart else { return }
        let start = index + 1
        let end = input[start...].firstIndex { $0 <= 0x20 || "/?#\"'<>\\".utf8.contains($0) } ?? input.count
        guard let at = input[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return }
        replace(start..<at, with: placeholder.text.utf8)
        index = at
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte >= 0x80 || "_-.~%[]$+".utf8.contains(byte)
    }

    private static let longestLineName = 64
}
