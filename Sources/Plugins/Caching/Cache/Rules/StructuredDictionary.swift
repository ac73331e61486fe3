/// A structured field of the type Dictionary, with the types that cache directives have.
///
/// Parameters are checked and ignored. The last value of a key counts.
///
/// Source: RFC 9651 §4.2.2, https://www.rfc-editor.org/rfc/rfc9651.html#section-4.2.2
struct StructuredDictionary {
    /// The value of a member.
    enum Item: Equatable {
        case boolean(Bool)
        /// The digits, with a sign if the number is negative.
        case integer(String)
        case string(String)
        /// A value of a type that no directive has.
        case other
    }

    private(set) var members: [String: Item] = [:]

    /// Parses a field value; returns `nil` if it is not a dictionary.
    init?(_ text: String) {
        var parser = StructuredParser(text)
        parser.skip { $0 == UInt8(ascii: " ") }
        while !parser.isAtEnd {
            guard let key = parser.key() else { return nil }
            var item = Item.boolean(true)
            if parser.take("=") {
                guard let value = parser.member() else { return nil }
                item = value
            }
            guard parser.skipParameters() else { return nil }
            members[key] = item
            parser.skip(\.isOptionalWhitespace)
            if parser.isAtEnd { return }
            guard parser.take(",") else { return nil }
            parser.skip(\.isOptionalWhitespace)
            if parser.isAtEnd { return nil }
        }
    }
}
