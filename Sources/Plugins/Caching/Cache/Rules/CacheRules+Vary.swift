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
    /// Lines are combined, and whitespace around commas is removed. The lists of Accept, Accept-Charset,
    /// Accept-Encoding and Accept-Language are compared without case and order. An absent field differs from an empty
    /// one.
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
        switch name {
        case "accept", "accept-charset", "accept-encoding", "accept-language":
            // A comma in a quoted parameter splits it in both requests, so equal texts stay equal.
            return lines.flatMap { elements(of: $0.lowercased()) }.map(preference).sorted().joined(separator: ",")
        case "cookie":
            return lines.joined(separator: "; ")
        // The grammar of these is not a list, so a comma may be part of a value.
        case "authorization", "proxy-authorization", "user-agent", "referer", "from":
            return String(lines.joined(separator: ", ").trimmed)
        default:
            return lines.contains { $0.utf8.contains(UInt8(ascii: "\"")) }
                ? String(lines.joined(separator: ",").trimmed) : lines.flatMap(elements).joined(separator: ",")
        }
    }

    /// Returns the elements of a list, without empty ones.
    static func elements(of line: some StringProtocol) -> [Substring] {
        line.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
    }

    /// Returns an element without whitespace around its parameters, and without the default weight.
    private static func preference(_ element: Substring) -> String {
        let parts = element.split(separator: ";").map(\.trimmed)
        return parts.filter { !["q=1", "q=1.0", "q=1.00", "q=1.000"].contains($0) }.joined(separator: ";")
    }
}
