import Foundation

/// Hides the values of secret names in text of any kind, and leaves everything else as it was written.
///
/// It looks for two patterns, so that it needs no whole document: `"name": value` of JSON, also inside JSON strings, in lines of JSON, in
/// events and in what was cut short; and `?name=value`, `&name=value`, `://user:password@` of URLs. Shapes stay: a text becomes a
/// text, a number 0, and of an object or array each value by itself.
struct SecretText {
    private let input: [UInt8]
    private let isSecret: (String) -> Bool
    private var index = 0
    /// What of the input stands in the output already, or is left out of it.
    private var copied = 0
    private var output: [UInt8] = []

    private init(_ input: [UInt8], _ isSecret: @escaping (String) -> Bool) {
        self.input = input
        self.isSecret = isSecret
    }

    /// The text with its secrets hidden, `nil` when there are none.
    static func hidden(in input: [UInt8], isSecret: @escaping (String) -> Bool) -> [UInt8]? {
        var text = SecretText(input, isSecret)
        text.read()
        guard text.copied > 0 else { return nil }
        text.output += input[text.copied...]
        return text.output
    }

    private mutating func read() {
        while index < input.count {
            switch input[index] {
            case UInt8(ascii: "\""): readQuote()
            case UInt8(ascii: "="): readEquals()
            case UInt8(ascii: "/"): readSlash()
            default: break
            }
            index += 1
        }
    }

    private mutating func replace(_ range: Range<Int>, with text: String) {
        guard !range.isEmpty, !input[range].elementsEqual(text.utf8) else { return }
        output += input[copied..<range.lowerBound]
        output += text.utf8
        copied = range.upperBound
    }

    private func byte(_ offset: Int) -> UInt8? { input.indices.contains(offset) ? input[offset] : nil }

    // MARK: JSON

    /// How often the text around a quotation mark is JSON inside a JSON string; `nil` far from any.
    ///
    /// Each level doubles the backslashes and adds one: so many ones end their number in binary.
    private func level(ofQuoteAt place: Int) -> Int {
        var count = 0
        while let byte = byte(place - count - 1), byte == UInt8(ascii: "\\") { count += 1 }
        return (~count).trailingZeroBitCount
    }

    private mutating func readQuote() {
        let end = index
        let level = level(ofQuoteAt: end)
        let colon = skipBlanks(from: end + 1, level)
        guard byte(colon) == UInt8(ascii: ":"), let name = name(endingAt: end, level), isSecret(name) else { return }
        index = hideValue(from: skipBlanks(from: colon + 1, level), level) - 1
    }

    private func skipBlanks(from start: Int, _ level: Int) -> Int {
        var place = start
        while let byte = byte(place) {
            if byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
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
        var name = String(decoding: input[start + 1..<end], as: UTF8.self)
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
                let end = input[place...].firstIndex { !Self.isNumberByte($0) } ?? input.count
                replace(place..<end, with: "0")
                place = end
            default:
                if depth == 0 { return endOfWord(from: place) }
                place += 1
            }
            if depth == 0 { return place }
        }
        return place
    }

    /// Hides what stands in the quotation marks, unless it is the name of a member; returns what is behind them.
    private mutating func hideString(from start: Int, _ level: Int, isInside: Bool) -> Int {
        let open = input[start...].firstIndex { $0 != UInt8(ascii: "\\") } ?? input.count
        // Behind all of them: looked at one by one, they would be counted as often as there are any.
        guard open < input.count, input[open] == UInt8(ascii: "\"") else { return open }
        var close = open + 1
        while let byte = byte(close), byte != UInt8(ascii: "\"") || self.level(ofQuoteAt: close) > level {
            guard byte >= 0x20 else { break }
            close += 1
        }
        let end = byte(close) == UInt8(ascii: "\"") ? close + 1 : close
        if isInside, byte(skipBlanks(from: end, level)) == UInt8(ascii: ":") { return end }
        // The backslashes before a mark of an inner level belong to the mark.
        let marks = byte(close) == UInt8(ascii: "\"") ? (1 << level) - 1 : 0
        replace(open + 1..<max(close - marks, open + 1), with: RecordingRedaction.placeholder)
        return end
    }

    /// Literals stay; anything else that stands for a value goes.
    private mutating func endOfWord(from start: Int) -> Int {
        let end = input[start...].firstIndex { $0 <= 0x20 || ",}]\"\\".utf8.contains($0) } ?? input.count
        let word = String(decoding: input[start..<end], as: UTF8.self)
        if !["true", "false", "null", ""].contains(word) {
            replace(start..<end, with: RecordingRedaction.placeholder)
        }
        return max(end, start + 1)
    }

    private static func isNumberByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || byte == 0x2b || byte == 0x2d || byte == 0x2e || byte | 0x20 == 0x65
    }

    // MARK: URLs

    /// Hides what follows `?name=`, `&name=`, `#name=` and their escaped forms.
    private mutating func readEquals() {
        var start = index
        while let byte = byte(start - 1), Self.isNameByte(byte), index - start < Self.longestName { start -= 1 }
        guard let mark = byte(start - 1) else { return }
        if mark == UInt8(ascii: "\\"), input[start...].starts(with: "u0026".utf8) {
            start += 5
        } else if mark == UInt8(ascii: ";") {
            guard input[..<start].suffix(5).elementsEqual("&amp;".utf8) else { return }
        } else {
            guard "?&#".utf8.contains(mark) else { return }
        }
        guard start <= index else { return }
        let name = String(decoding: input[start..<index], as: UTF8.self)
        guard isSecret(name.removingPercentEncoding ?? name) else { return }
        let end = input[(index + 1)...].firstIndex { $0 <= 0x20 || "&#;\"'<>\\)]}".utf8.contains($0) } ?? input.count
        replace(index + 1..<end, with: RecordingRedaction.placeholder)
        index = end - 1
    }

    /// Hides the user name and the password of a URL.
    private mutating func readSlash() {
        guard let before = byte(index - 1) else { return }
        let isStart =
            before == UInt8(ascii: "/") && (byte(index - 2) ?? UInt8(ascii: ":")) == UInt8(ascii: ":")
            || before == UInt8(ascii: "\\") && input[..<index].suffix(4).elementsEqual(":\\/\\".utf8)
        guard isStart else { return }
        let start = index + 1
        let end = input[start...].firstIndex { $0 <= 0x20 || "/?#\"'<>\\".utf8.contains($0) } ?? input.count
        guard let at = input[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return }
        replace(start..<at, with: RecordingRedaction.placeholder)
        index = at
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x80...0xff: true
        default: "_-.~%[]$+".utf8.contains(byte)
        }
    }

    private static let longestName = 256
}
