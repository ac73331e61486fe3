import HTTPTypes

extension URLText.RequestTarget {
    /// The target of a request, from which a reference is resolved.
    init(of head: HTTPRequest) {
        self.init(scheme: head.scheme ?? "", authority: head.authority ?? "", pathAndQuery: head.path ?? "/")
    }
}

extension URLText {
    /// Resolves a Location field to a request target; returns `nil` if it cannot be requested.
    ///
    /// Source: RFC 3986 §5.2, https://www.rfc-editor.org/rfc/rfc3986.html#section-5.2
    static func resolve(_ reference: String, against base: RequestTarget) -> RequestTarget? {
        var bytes: [UInt8] = []
        PercentEncoding.append(
            reference.utf8.drop { $0 == UInt8(ascii: " ") },
            to: &bytes,
            allowed: .reference,
            keepsEscapes: true
        )
        let text = String(decoding: bytes, as: UTF8.self)
        guard !text.isEmpty else { return nil }
        // The asterisk of OPTIONS is not a path: text appended to it would become part of the host.
        let pathAndQuery = base.pathAndQuery.hasPrefix("/") ? base.pathAndQuery : "/"
        let path = pathAndQuery.prefix { $0 != "?" }
        let absolute: String
        if hasScheme(text) {
            absolute = text
        } else if text.hasPrefix("//") {
            absolute = base.scheme + ":" + text
        } else {
            let origin = base.scheme + "://" + base.authority
            absolute =
                switch text.first {
                case "/": origin + text
                case "?": origin + path + text
                case "#": origin + pathAndQuery
                default: origin + path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex) + text
                }
        }
        return try? requestTarget(of: absolute)
    }

    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
        let other = text.utf8.firstIndex {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        return other.map { colon < $0 } ?? true
    }
}
