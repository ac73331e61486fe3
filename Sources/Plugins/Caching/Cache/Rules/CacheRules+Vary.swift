import HTTPTypes

extension CacheRules {
    /// Returns the names that Vary lists, in lowercase and sorted; `nil` if one is `*` or invalid, which never matches.
    static func varyNames(_ headers: HTTPFields) -> [String]? {
        let lines = headers[values: .vary]
        if lines.isEmpty { return [] }
        if lines.count == 1, let name = HTTPField.Name(lines[0]), lines[0] != "*" { return [name.canonicalName] }
        var names: Set<String> = []
        for element in lines.flatMap(elements) {
            guard element != "*", let name = HTTPField.Name(String(element)) else { return nil }
            names.insert(name.canonicalName)
        }
        return names.sorted()
    }

    /// Returns a text that is equal for two requests if the fields select the same response (RFC 9111 §4.1).
    ///
    /// Lines are combined. In Accept, Accept-Charset, Accept-Encoding and Accept-Language without quotation marks,
    /// whitespace, the case of ranges and parameter names, and the default weight do not count. Nor does the order of
    /// Accept-Charset and Accept-Encoding; in the others, a server may prefer the first. An absent field differs from
    /// an empty one.
    static func selectingText(_ names: [String], of request: HTTPRequest) -> String {
        var text = ""
        for name in names {
            text += name
            if let lines = HTTPField.Name(name).map({ request.headerFields[values: $0] }), !lines.isEmpty {
                text += ":" + normalized(lines, name)
            }
            text += "\n"
        }
        return text
    }

    private static func normalized(_ lines: [String], _ name: String) -> String {
        if name == "cookie" { return lines.joined(separator: "; ") }
        let text = String(lines.joined(separator: ", ").trimmed)
        // A quoted value may contain separators.
        guard !text.utf8.contains(UInt8(ascii: "\"")) else { return text }
        switch name {
        case "accept", "accept-language": return elements(of: text).map(preference).joined(separator: ",")
        case "accept-charset", "accept-encoding":
            return elements(of: text).map(preference).sorted().joined(separator: ",")
        // The grammar of other fields may not be a list, so a comma may be part of a value.
        default: return text
        }
    }

    /// Returns the elements of a list, without empty ones.
    static func elements(of line: some StringProtocol) -> [Substring] {
        line.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
    }

    /// Returns an element without whitespace around its parameters, and without the default weight.
    ///
    /// The range and the names of parameters are in lowercase; the values may be case-sensitive.
    private static func preference(_ element: Substring) -> String {
        let parts = element.split(separator: ";").map(\.trimmed).enumerated().map { index, part in
            let end = index == 0 ? part.endIndex : part.firstIndex(of: "=") ?? part.endIndex
            return part[..<end].lowercased() + part[end...]
        }
        return parts.filter { !["q=1", "q=1.0", "q=1.00", "q=1.000"].contains($0) }.joined(separator: ";")
    }
}
