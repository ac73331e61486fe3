/// A cursor over the text of a structured field.
struct StructuredParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        // Trailing spaces are discarded (RFC 9651 §4.2).
        let end = text.utf8.lastIndex { $0 != UInt8(ascii: " ") }.map(text.utf8.index(after:))
        bytes = Array(text.utf8[..<(end ?? text.startIndex)])
    }

    var isAtEnd: Bool { position == bytes.count }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        while let next, isSkipped(next) { position += 1 }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func text(_ isIncluded: (UInt8) -> Bool) -> String {
        let start = position
        skip(isIncluded)
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    mutating func key() -> String? {
        guard let next, next.isLowercaseLetter || next == UInt8(ascii: "*") else { return nil }
        return text { $0.isLowercaseLetter || $0.isDigit || $0.isOne(of: "_-.*") }
    }

    /// Parses an item or an inner list; returns `nil` if it is invalid.
    mutating func member() -> StructuredDictionary.Item? {
        guard take("(") else { return item() }
        while true {
            skip { $0 == UInt8(ascii: " ") }
            if take(")") { return .other }
            guard item() != nil, skipParameters(), next == UInt8(ascii: " ") || next == UInt8(ascii: ")") else {
                return nil
            }
        }
    }

    /// Parses parameters; returns whether they are valid.
    mutating func skipParameters() -> Bool {
        while take(";") {
            skip { $0 == UInt8(ascii: " ") }
            guard key() != nil, !take("=") || item() != nil else { return false }
        }
        return true
    }

    private mutating func item() -> StructuredDictionary.Item? {
        guard let next else { return nil }
        switch next {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return number()
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "?"): return boolean()
        case UInt8(ascii: ":"): return byteSequence()
        case UInt8(ascii: "@"):
            position += 1
            guard case .integer = number() else { return nil }
            return .other
        case UInt8(ascii: "*"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            skip { $0.isLetter || $0.isDigit || $0.isOne(of: ":/!#$%&'*+-.^_`|~") }
            return .other
        // A Display String ends with a quotation mark that is never escaped.
        case UInt8(ascii: "%"):
            position += 1
            guard take("\"") else { return nil }
            skip { $0 != UInt8(ascii: "\"") && (0x20...0x7e).contains($0) }
            return take("\"") ? .other : nil
        default: return nil
        }
    }

    private mutating func number() -> StructuredDictionary.Item? {
        let sign = take("-") ? "-" : ""
        let digits = text(\.isDigit)
        guard (1...15).contains(digits.utf8.count) else { return nil }
        guard take(".") else { return .integer(sign + digits) }
        return digits.utf8.count <= 12 && (1...3).contains(text(\.isDigit).utf8.count) ? .other : nil
    }

    private mutating func string() -> StructuredDictionary.Item? {
        var content: [UInt8] = []
        position += 1
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return .string(String(decoding: content, as: UTF8.self))
            case UInt8(ascii: "\\"):
                guard let escaped = next, escaped.isOne(of: "\"\\") else { return nil }
                position += 1
                content.append(escaped)
            case 0x20...0x7e: content.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func boolean() -> StructuredDictionary.Item? {
        position += 1
        if take("1") { return .boolean(true) }
        return take("0") ? .boolean(false) : nil
    }

    private mutating func byteSequence() -> StructuredDictionary.Item? {
        position += 1
        skip { $0.isLetter || $0.isDigit || $0.isOne(of: "+/=") }
        return take(":") ? .other : nil
    }
}

extension UInt8 {
    fileprivate var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    fileprivate var isLetter: Bool { (self | 0x20).isLowercaseLetter }
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate func isOne(of characters: StaticString) -> Bool {
        characters.withUTF8Buffer { $0.contains(self) }
    }
}
