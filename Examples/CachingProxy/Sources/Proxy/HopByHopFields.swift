import HTTPTypes

extension HTTPFields {
    private static let hopByHopNames: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Removes the fields that are meant for one connection: those above and those that Connection names.
    ///
    /// Source: RFC 9110 §7.6.1, https://www.rfc-editor.org/rfc/rfc9110.html#section-7.6.1
    mutating func removeHopByHopFields() {
        var names = Self.hopByHopNames
        for list in self[values: .connection] {
            for name in list.split(separator: ",") {
                names.insert(name.filter { $0 != " " && $0 != "\t" }.lowercased())
            }
        }
        guard contains(where: { names.contains($0.name.canonicalName) }) else { return }
        self = HTTPFields(filter { !names.contains($0.name.canonicalName) })
    }
}

extension IncomingRequest {
    /// Counts this hop; returns whether the request may be forwarded (RFC 9110 §7.6.2).
    mutating func decrementMaxForwards() -> Bool {
        guard head.method == .options, let text = head.headerFields[.maxForwards], let count = Int(text), count >= 0
        else { return true }
        head.headerFields[.maxForwards] = String(max(0, count - 1))
        return count > 0
    }
}
