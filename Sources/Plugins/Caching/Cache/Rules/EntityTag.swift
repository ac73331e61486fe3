import HTTPTypes

/// An entity tag, such as `W/"a"`.
///
/// Source: RFC 9110 §8.8.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.8.3
struct EntityTag: Sendable, Hashable {
    let isWeak: Bool
    /// The tag with its quotation marks.
    let opaque: String

    /// Parses a single entity tag; returns `nil` for anything else.
    init?(_ text: some StringProtocol) {
        let text = text.trimmed
        isWeak = text.hasPrefix("W/")
        opaque = String(isWeak ? text.dropFirst(2) : text[...])
        let bytes = opaque.utf8
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\""),
            bytes.dropFirst().dropLast().allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "\"") })
        else { return nil }
    }

    /// Reads ETag; `nil` if it is absent, invalid or has several values.
    init?(_ headers: HTTPFields) {
        guard let line = headers.single(.eTag) else { return nil }
        self.init(line)
    }

    /// Returns the validator of a response as If-None-Match has it; `nil` if there is none.
    ///
    /// Many servers omit the quotation marks, and compare what they get with what they have sent.
    static func validator(_ headers: HTTPFields) -> String? { EntityTag(headers)?.text ?? unquoted(headers) }

    /// Returns the value of ETag if it is a tag without quotation marks.
    static func unquoted(_ headers: HTTPFields) -> String? {
        guard let text = headers.single(.eTag)?.trimmed else { return nil }
        let isTag = text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !#"","#.utf8.contains($0) }
        return isTag && !text.isEmpty && text != "*" ? String(text) : nil
    }

    /// The tag as it is written in a field.
    var text: String { isWeak ? "W/" + opaque : opaque }

    /// Whether both tags are strong and equal.
    func matchesStrongly(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && opaque == other.opaque
    }

    /// Whether the tags are equal, apart from their strength.
    func matchesWeakly(_ other: EntityTag) -> Bool { opaque == other.opaque }

    /// Parses a list of tags; skips what is not a tag.
    static func list(_ fieldLines: [String]) -> [EntityTag] {
        fieldLines.flatMap { line in
            // A comma inside of a tag is not a separator.
            var isQuoted = false
            let elements = line.utf8.split { byte in
                if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                return byte == UInt8(ascii: ",") && !isQuoted
            }
            return elements.compactMap { EntityTag(Substring($0)) }
        }
    }
}
