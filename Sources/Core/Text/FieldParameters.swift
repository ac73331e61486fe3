/// A reader of the parameters in a field value: `; name=value`, `; name="value"` and `; name`.
///
/// Source: RFC 9110 §5.6.6, https://www.rfc-editor.org/rfc/rfc9110.html#section-5.6.6
struct FieldParameters {
    private var rest: Substring.UTF8View
    /// Whether a comma ends the parameters, because another element of a list follows.
    private let isInList: Bool

    init(_ text: Substring, isInList: Bool = false) {
        rest = text.utf8
        self.isInList = isInList
    }

    /// What has not been read yet.
    var unread: Substring { Substring(rest) }

    /// Reads the text before the first parameter, without blanks around it.
    mutating func takeItem() -> String {
        take(while: isPart)
    }

    /// Reads the next parameter, with its name in lowercase letters; returns `nil` if there is none.
    mutating func next() -> (name: String, value: String)? {
        let isPart = isPart
        rest = rest.drop(while: isPart)
        guard rest.first == UInt8(ascii: ";") else { return nil }
        rest = rest.dropFirst().drop { $0.isBlank }
        let name = take { !$0.isBlank && $0 != UInt8(ascii: "=") && isPart($0) }.lowercased()
        rest = rest.drop { $0.isBlank }
        guard rest.first == UInt8(ascii: "=") else { return (name, "") }
        rest = rest.dropFirst().drop { $0.isBlank }
        return (name, rest.first == UInt8(ascii: "\"") ? takeQuoted() : take(while: isPart))
    }

    /// Whether a byte neither separates parameters nor ends them.
    private var isPart: (UInt8) -> Bool {
        { [isInList] byte in byte != UInt8(ascii: ";") && !(isInList && byte == UInt8(ascii: ",")) }
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> String {
        let taken = rest.prefix(while: condition)
        rest = rest[taken.endIndex...]
        return String(decoding: taken, as: UTF8.self).trimmingBlanks
    }

    /// Reads a quoted string, which may contain separators and escaped quotes.
    private mutating func takeQuoted() -> String {
        var bytes: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            if let escaped = rest.popFirst() { bytes.append(escaped) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether the byte is a space or a tab.
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension StringProtocol {
    /// The text without the spaces and tabs around it.
    package var trimmingBlanks: String {
        String(decoding: utf8.drop(while: \.isBlank).reversed().drop(while: \.isBlank).reversed(), as: UTF8.self)
    }
}

extension Collection<UInt8> {
    /// Whether there is at least one byte, and all are digits.
    var isDigits: Bool { !isEmpty && allSatisfy(ByteSet.digits.contains) }
}
