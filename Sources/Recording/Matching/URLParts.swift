import PipelineCore

/// The parts of an absolute URL, normalized so that URLs that differ only in notation are equal.
///
/// Source: RFC 3986 §6.2, https://www.rfc-editor.org/rfc/rfc3986.html#section-6.2
struct URLParts: Equatable {
    struct Item: Hashable, Comparable {
        var name: String
        var value: String

        static func < (lhs: Item, rhs: Item) -> Bool { (lhs.name, lhs.value) < (rhs.name, rhs.value) }

        /// The item as it is written in a query.
        var text: String { "\(name)=\(value)" }
    }

    /// In lower case; empty if the text has none.
    var scheme = ""
    var host = ""
    /// Defaults to the port of the scheme.
    var port = ""
    /// Every byte except letters, digits, `-._~` and the slash is written as `%XX`.
    var path = "/"
    var query: [Item] = []

    init(_ url: String) {
        var rest = url.utf8[...]
        rest = rest[..<(rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex)]
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
            scheme = Self.text(rest[..<colon]).lowercased()
            rest = rest[rest.index(colon, offsetBy: 3)...]
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            takeAuthority(rest[..<end])
            rest = rest[end...]
        }
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        if rest.startIndex < mark { path = Self.path(rest[..<mark]) }
        if mark < rest.endIndex { query = Self.items(rest[rest.index(after: mark)...]) }
    }

    private mutating func takeAuthority(_ authority: Substring.UTF8View) {
        var rest = authority
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[rest.index(after: at)...] }
        let colon = rest.lastIndex(of: UInt8(ascii: ":"))
        let bracket = rest.lastIndex(of: UInt8(ascii: "]"))
        if let colon, bracket.map({ $0 < colon }) ?? true {
            host = Self.text(rest[..<colon]).lowercased()
            port = Self.text(rest[rest.index(after: colon)...])
        } else {
            host = Self.text(rest).lowercased()
        }
        guard port.isEmpty else { return }
        switch scheme {
        case "https", "wss": port = "443"
        case "http", "ws": port = "80"
        default: break
        }
    }

    /// Returns the items of a query or a form, decoded once.
    ///
    /// An item without `=` has an empty value.
    static func items(_ text: Substring.UTF8View) -> [Item] {
        text.split(separator: UInt8(ascii: "&")).map { item in
            let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            let value = equals < item.endIndex ? item[item.index(after: equals)...] : item[item.endIndex...]
            return Item(
                name: PercentEscapes.encoded(PercentEscapes.decoded(item[..<equals], plus: 0x20)),
                value: PercentEscapes.encoded(PercentEscapes.decoded(value, plus: 0x20))
            )
        }
    }

    /// Returns the items without those that have one of the decoded names.
    static func removing(_ names: Set<String>, from items: [Item]) -> [Item] {
        guard !names.isEmpty else { return items }
        let removed = Set(names.map { PercentEscapes.encoded($0.utf8) })
        return items.filter { !removed.contains($0.name) }
    }

    private static func path(_ bytes: Substring.UTF8View) -> String {
        bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { PercentEscapes.encoded(PercentEscapes.decoded($0, plus: UInt8(ascii: "+"))) }.joined(separator: "/")
    }

    private static func text(_ bytes: Substring.UTF8View) -> String { String(decoding: bytes, as: UTF8.self) }
}
