import Foundation

/// Hides the values of secret names in text of any kind, and leaves everything else unchanged.
///
/// It searches for patterns, so it does not need a complete document:
///
/// - `"name": value` in JSON, also inside JSON strings, in JSON lines, in events and in truncated JSON;
/// - `?name=value`, `&name=value` and `://user:password@` in URLs;
/// - `name=value` at the beginning or after a blank, a comma, a semicolon or another `=`;
/// - `name: "value"` in arguments, as in GraphQL;
/// - the value of a pair, as in `{"name": "password", "value": …}`;
/// - private keys in PEM;
/// - elements and attributes of XML;
/// - in bodies, lines such as `name: value`.
///
/// Shapes are preserved: a text becomes a text, a JSON number becomes 0, and the values in an object, an array or an
/// element are replaced one by one.
struct SecretText {
    let input: [UInt8]
    let names: SecretNames
    let placeholder: SecretPlaceholder
    let readsLines: Bool
    /// The first character of the text, which indicates its kind.
    let start: UInt8?
    var index = 0
    /// How much of the input has been copied to the output or omitted.
    private var copied = 0
    private var output: [UInt8] = []
    var tag: Tag?
    var hiddenElement: HiddenElement?
    var unfinishedIslands: Set<Island> = []
    /// The level of the JSON strings in which a pair with a secret name has begun; `nil` outside of one.
    var openPair: Int?
    /// Whether an element with a secret name as its text came last, as in a list of pairs.
    var namesNextElement = false

    private init(_ input: [UInt8], _ names: SecretNames, _ placeholder: SecretPlaceholder, _ readsLines: Bool) {
        self.input = input
        self.readsLines = readsLines
        self.names = names
        self.placeholder = placeholder
        let content = input.starts(with: [0xef, 0xbb, 0xbf]) ? input.dropFirst(3) : input[...]
        start = content.first { !$0.isBlank }
    }

    /// Returns a text with its secrets hidden; `nil` if there are none.
    ///
    /// - Parameters:
    ///   - input: the text in UTF-8.
    ///   - names: the names that are secret.
    ///   - placeholder: the text that replaces a value.
    ///   - readsLines: whether to look for lines such as `name: value`.
    /// - Returns: the text, or `nil`.
    static func hidden(
        in input: [UInt8],
        _ names: SecretNames,
        _ placeholder: SecretPlaceholder,
        readsLines: Bool = false
    ) -> [UInt8]? {
        guard input.contains(where: { "=:/<-".utf8.contains($0) }) else { return nil }
        var text = SecretText(input, names, placeholder, readsLines)
        text.read()
        guard text.copied > 0 else { return nil }
        text.output += input[text.copied...]
        return text.output
    }

    private mutating func read() {
        while index < input.count {
            switch input[index] {
            case UInt8(ascii: "\""):
                readTagQuote()
                readQuote()
            case UInt8(ascii: "'"): readTagQuote()
            case UInt8(ascii: "="): if !readAttribute(), !readLine() { readEquals() }
            case UInt8(ascii: ":"): if !readLine() { readArgument() }
            case UInt8(ascii: "}"): openPair = nil
            case UInt8(ascii: "-"): readPrivateKey()
            case UInt8(ascii: "/"): readSlash()
            case UInt8(ascii: "<"): readTagStart()
            case UInt8(ascii: ">"): readTagEnd()
            default: break
            }
            index += 1
        }
    }

    func isSecret(_ name: String, _ place: SecretPlaces) -> Bool { names.contains(name, in: place) }

    mutating func replace(_ range: Range<Int>, with text: some Collection<UInt8>) {
        guard !range.isEmpty, !input[range].elementsEqual(text) else { return }
        output += input[copied..<range.lowerBound]
        output += text
        copied = range.upperBound
    }

    /// Hides a text, except blanks around it and literals, which are not secret.
    mutating func hide(_ range: Range<Int>) {
        let content = input[range]
        guard let first = content.firstIndex(where: { !$0.isBlank }),
            let last = content.lastIndex(where: { !$0.isBlank }),
            !(last - first < 5 && Self.literals.contains(String(decoding: input[first...last], as: UTF8.self)))
        else { return }
        replace(first..<last + 1, with: placeholder.text.utf8)
    }

    func byte(_ offset: Int) -> UInt8? { input.indices.contains(offset) ? input[offset] : nil }

    static let literals: Set<String> = ["true", "false", "null", ""]

    // MARK: JSON

    /// Returns how many JSON strings enclose the text around a quotation mark.
    ///
    /// Each level doubles the backslashes and adds one, so their number ends in that many ones in binary.
    private func level(ofQuoteAt place: Int) -> Int {
        var count = 0
        while let byte = byte(place - count - 1), byte == UInt8(ascii: "\\") { count += 1 }
        return (~count).trailingZeroBitCount
    }

    private mutating func readQuote() {
        let end = index
        let level = level(ofQuoteAt: end)
        let colon = skipBlanks(from: end + 1, level)
        guard byte(colon) == UInt8(ascii: ":"), let name = name(endingAt: end, level) else { return }
        let value = skipBlanks(from: colon + 1, level)
        let isText = byte(value) == UInt8(ascii: "\"") || byte(value) == UInt8(ascii: "\\")
        let place: SecretPlaces = isText ? .textMember : .member
        guard isSecret(name, place) || isSecretPair(name, value, level, place) else { return }
        index = hideValue(from: value, level) - 1
    }

    /// Returns whether a member is the value of a pair whose name is secret; notes that such a pair has begun.
    private mutating func isSecretPair(_ name: String, _ value: Int, _ level: Int, _ place: SecretPlaces) -> Bool {
        if SecretPlaces.namesOfPairs.contains(name.lowercased()) {
            if let name = string(at: value, level), isSecret(name, .textMember) { openPair = level }
            return false
        }
        guard name.lowercased() == SecretPlaces.valueOfPairs else { return false }
        if openPair == level {
            openPair = nil
            return true
        }
        // The name may follow.
        let end = place == .textMember ? endOfString(from: value, level) : endOfScalar(from: value)
        let comma = skipBlanks(from: end, level)
        let next = skipBlanks(from: comma + 1, level)
        guard byte(comma) == UInt8(ascii: ","), let other = string(at: next, level),
            SecretPlaces.namesOfPairs.contains(other.lowercased())
        else { return false }
        let colon = skipBlanks(from: endOfString(from: next, level), level)
        guard byte(colon) == UInt8(ascii: ":"), let text = string(at: skipBlanks(from: colon + 1, level), level) else {
            return false
        }
        return isSecret(text, place)
    }

    /// Returns the text of a string; `nil` if there is none.
    private func string(at start: Int, _ level: Int) -> String? {
        let end = endOfString(from: start, level)
        return end > start ? name(endingAt: end - 1, level) : nil
    }

    /// Returns the index after the string that begins at a place; the place if none does, or it does not end.
    private func endOfString(from start: Int, _ level: Int) -> Int {
        let open = input[start...].firstIndex { $0 != UInt8(ascii: "\\") } ?? input.count
        guard byte(open) == UInt8(ascii: "\""), self.level(ofQuoteAt: open) == level else { return start }
        let close = endOfText(from: open + 1, level)
        return byte(close) == UInt8(ascii: "\"") ? close + 1 : start
    }

    /// Returns the index of the quotation mark, or of the control character, that ends the text of a string.
    private func endOfText(from start: Int, _ level: Int) -> Int {
        var close = start
        while let byte = byte(close), byte >= 0x20, byte != UInt8(ascii: "\"") || self.level(ofQuoteAt: close) > level {
            close += 1
        }
        return close
    }

    /// Returns the index after a number or a literal.
    private func endOfScalar(from start: Int) -> Int {
        input[min(start, input.count)...].firstIndex { $0 <= 0x20 || ",}]\"\\".utf8.contains($0) } ?? input.count
    }

    // MARK: Arguments

    /// Hides the value after `name:` if it is a text in quotation marks, also three of them, or a number in a list of
    /// arguments.
    private mutating func readArgument() {
        guard start != UInt8(ascii: "<") else { return }
        var end = index
        while let byte = byte(end - 1), byte.isBlank { end -= 1 }
        var first = end
        while let byte = byte(first - 1), byte.isAlphanumeric || byte == UInt8(ascii: "_"),
            end - first < Self.longestName
        {
            first -= 1
        }
        // In a JSON string, the backslash of a line break is in front of the name.
        if byte(first - 1) == UInt8(ascii: "\\"), first < end { first += 1 }
        guard first < end else { return }
        let value = skipBlanks(from: index + 1, 0)
        let name = String(decoding: input[first..<end], as: UTF8.self)
        let mark = input[value...].firstIndex { $0 != UInt8(ascii: "\\") } ?? input.count
        if byte(mark) == UInt8(ascii: "\"") {
            guard isSecret(name, .textMember) else { return }
            let quote = input[value...mark]
            let quotes = quote + quote + quote
            if input[value...].starts(with: quotes) {
                let open = value + quotes.count
                let close = self.first(quotes, from: open) ?? input.count
                hide(open..<close)
                index = min(close + quotes.count, input.count) - 1
            } else {
                index = hideString(from: value, level(ofQuoteAt: mark), isInside: false) - 1
            }
        } else if let before = byte(first - 1), "({,".utf8.contains(before) || before.isBlank,
            byte(value)?.isDigit == true,
            isSecret(name, .member)
        {
            index = hideNumber(from: value) - 1
        }
    }

    // MARK: Private keys

    /// Hides a private key in PEM, up to its last line or the end of the text.
    ///
    /// Source: RFC 7468 §2, https://www.rfc-editor.org/rfc/rfc7468.html#section-2
    private mutating func readPrivateKey() {
        let begin = "-----BEGIN ".utf8
        guard input[index...].starts(with: begin) else { return }
        let label = input[(index + begin.count)...].prefix(Self.longestName)
        guard let dashes = first("-----".utf8, from: label.startIndex), dashes < label.endIndex,
            String(decoding: label[..<dashes], as: UTF8.self).hasSuffix("PRIVATE KEY")
        else { return }
        let open = dashes + 5
        let close = first("-----END ".utf8, from: open) ?? input.count
        hide(open..<close)
        index = close - 1
    }

    /// Returns where bytes begin for the first time.
    func first(_ bytes: some Collection<UInt8>, from start: Int) -> Int? {
        guard let first = bytes.first else { return start }
        var place = start
        while place < input.count, let found = input[place...].firstIndex(of: first) {
            if input[found...].starts(with: bytes) { return found }
            place = found + 1
        }
        return nil
    }

    private func skipBlanks(from start: Int, _ level: Int) -> Int {
        var place = start
        while let byte = byte(place) {
            if byte.isBlank {
                place += 1
            } else if level > 0, byte == UInt8(ascii: "\\"), let letter = self.byte(place + 1),
                "nrt".utf8.contains(letter)
            {
                place += 2
            } else {
                break
            }
        }
        return place
    }

    private func name(endingAt end: Int, _ level: Int) -> String? {
        var start = end - 1
        while let byte = byte(start), byte != UInt8(ascii: "\"") || self.level(ofQuoteAt: start) != level {
            guard byte >= 0x20, end - start <= Self.longestName else { return nil }
            start -= 1
        }
        guard start >= 0 else { return nil }
        // The backslashes before the quotation mark of an inner level belong to it.
        let marks = (1 << level) - 1
        var name = String(decoding: input[start + 1..<max(end - marks, start + 1)], as: UTF8.self)
        for _ in 0...level where name.utf8.contains(UInt8(ascii: "\\")) {
            name = (try? JSONDecoder().decode(String.self, from: Data("\"\(name)\"".utf8))) ?? name
        }
        return name
    }

    /// Hides a value and returns where it ends.
    private mutating func hideValue(from start: Int, _ level: Int) -> Int {
        var place = start
        var depth = 0
        while let byte = byte(place) {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth <= 0 { return depth < 0 ? place : place + 1 }
                place += 1
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                place = hideString(from: place, level, isInside: depth > 0)
            case UInt8(ascii: "-"), 0x30...0x39:
                place = hideNumber(from: place)
            default:
                if depth == 0 { return endOfWord(from: place) }
                place += 1
            }
            if depth == 0 { return place }
        }
        return place
    }

    /// Hides the text in quotation marks, unless it is the name of a member; returns the index after them.
    private mutating func hideString(from start: Int, _ level: Int, isInside: Bool) -> Int {
        let open = input[start...].firstIndex { $0 != UInt8(ascii: "\\") } ?? input.count
        // Skips all backslashes at once; examined one by one, each would be counted again.
        guard open < input.count, input[open] == UInt8(ascii: "\"") else { return open }
        let close = endOfText(from: open + 1, level)
        let end = byte(close) == UInt8(ascii: "\"") ? close + 1 : close
        if isInside, byte(skipBlanks(from: end, level)) == UInt8(ascii: ":") { return end }
        // The backslashes before a quotation mark of an inner level belong to it.
        let marks = byte(close) == UInt8(ascii: "\"") ? (1 << level) - 1 : 0
        replace(open + 1..<max(close - marks, open + 1), with: placeholder.text.utf8)
        return end
    }

    /// Hides a word unless it is a literal, and returns where it ends.
    private mutating func endOfWord(from start: Int) -> Int {
        let end = endOfScalar(from: start)
        hide(start..<end)
        return max(end, start + 1)
    }

    /// Hides a number and returns where it ends.
    private mutating func hideNumber(from start: Int) -> Int {
        let end = input[start...].firstIndex { !$0.isDigit && !"+-.eE".utf8.contains($0) } ?? input.count
        replace(start..<end, with: placeholder.number.utf8)
        return end
    }

    static let longestName = 256
}
