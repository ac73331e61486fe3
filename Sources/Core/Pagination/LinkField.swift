/// A parser for the links of a Link field.
///
/// Source: RFC 8288 §3 and Appendix B, https://www.rfc-editor.org/rfc/rfc8288.html#section-3
struct LinkField {
    /// A link from the response to another resource.
    struct Link: Equatable {
        /// The URL, absolute or relative to that of the response.
        var reference: String
        /// The relation types, in lowercase letters.
        var relations: [String]
        /// Whether the link starts at a resource other than the response, and so is not one of its links.
        var hasAnchor = false
    }

    private var input: Substring.UTF8View

    /// Returns the links of a field value up to the first malformed one.
    static func links(in value: String) -> [Link] {
        var field = LinkField(input: value[...].utf8)
        var links: [Link] = []
        while let link = field.nextLink() { links.append(link) }
        return links
    }

    private mutating func nextLink() -> Link? {
        skip { Self.isBlank($0) || $0 == UInt8(ascii: ",") }
        guard input.first == UInt8(ascii: "<"), let end = input.firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var link = Link(reference: Self.text(input[..<end].dropFirst()), relations: [])
        input = input[end...].dropFirst()
        var hasRelations = false
        while let (name, value) = nextParameter() {
            if name == "anchor" { link.hasAnchor = true }
            // Only the first `rel` counts.
            guard name == "rel", !hasRelations else { continue }
            hasRelations = true
            link.relations = value.lowercased().split { $0 == " " || $0 == "\t" }.map(String.init)
        }
        return link
    }

    /// Returns the next parameter of the current link, or `nil` at a comma or the end of the field.
    private mutating func nextParameter() -> (name: String, value: String)? {
        skip { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
        guard input.first == UInt8(ascii: ";") else { return nil }
        input = input.dropFirst()
        skip(Self.isBlank)
        let name = take { !Self.isBlank($0) && !"=;,".utf8.contains($0) }.lowercased()
        skip(Self.isBlank)
        guard input.first == UInt8(ascii: "=") else { return (name, "") }
        input = input.dropFirst()
        skip(Self.isBlank)
        if input.first == UInt8(ascii: "\"") { return (name, takeQuoted()) }
        return (name, take { !Self.isBlank($0) && !";,".utf8.contains($0) })
    }

    /// Reads a quoted string, which may contain commas, semicolons and escaped quotes.
    private mutating func takeQuoted() -> String {
        var bytes: [UInt8] = []
        input = input.dropFirst()
        while let byte = input.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            if let escaped = input.popFirst() { bytes.append(escaped) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> String {
        let taken = input.prefix(while: condition)
        input = input[taken.endIndex...]
        return Self.text(taken)
    }

    private mutating func skip(_ condition: (UInt8) -> Bool) {
        input = input.drop(while: condition)
    }

    private static func text(_ bytes: Substring.UTF8View) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
