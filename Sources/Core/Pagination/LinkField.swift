/// A parser for the links of a Link field.
///
/// Source: RFC 8288 §3 and Appendix B, https://www.rfc-editor.org/rfc/rfc8288.html#section-3
enum LinkField {
    /// A link from the response to another resource.
    struct Link: Equatable {
        /// The URL, absolute or relative to that of the response.
        var reference: String
        /// The relation types, in lowercase letters.
        var relations: [String]
        /// Whether the link starts at a resource other than the response, and so is not one of its links.
        var hasAnchor = false
    }

    /// Returns the links of a field value up to the first malformed one.
    static func links(in value: String) -> [Link] {
        var rest = value[...]
        var links: [Link] = []
        while let link = nextLink(&rest) { links.append(link) }
        return links
    }

    private static func nextLink(_ rest: inout Substring) -> Link? {
        rest = Substring(rest.utf8.drop { $0.isBlank || $0 == UInt8(ascii: ",") })
        guard rest.utf8.first == UInt8(ascii: "<"), let end = rest.utf8.firstIndex(of: UInt8(ascii: ">")) else {
            return nil
        }
        var link = Link(reference: String(decoding: rest.utf8[..<end].dropFirst(), as: UTF8.self), relations: [])
        var parameters = FieldParameters(Substring(rest.utf8[end...]), isInList: true)
        var hasRelations = false
        while let (name, value) = parameters.next() {
            if name == "anchor" { link.hasAnchor = true }
            // Only the first `rel` counts.
            guard name == "rel", !hasRelations else { continue }
            hasRelations = true
            link.relations = value.lowercased().split { $0 == " " || $0 == "\t" }.map(String.init)
        }
        rest = parameters.unread
        return link
    }
}
