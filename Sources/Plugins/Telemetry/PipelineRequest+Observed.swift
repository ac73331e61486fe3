#if Metrics || Tracing
import HTTPTypes
import Pipeline

/// What metrics and traces say of a request: few different values, and no secret.
extension PipelineRequest {
    private static let knownMethods: Set<HTTPRequest.Method> = Set(
        [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch]
            + ["QUERY"].compactMap { HTTPRequest.Method($0) }
    )

    /// The method, `_OTHER` for one that no RFC knows: those may be as many as there are callers.
    var observedMethod: String {
        Self.observedMethod(method)
    }

    /// A method, `_OTHER` for one that no RFC knows.
    static func observedMethod(_ method: HTTPRequest.Method) -> String {
        knownMethods.contains(method) ? method.rawValue : "_OTHER"
    }

    /// The host in lower case, without port and brackets; `nil` when there is none.
    var serverAddress: String? {
        guard let host else { return nil }
        let end = Self.portMark(of: host) ?? host.endIndex
        let name = host[..<end].lowercased()
        let isLiteral = name.hasPrefix("[") && name.hasSuffix("]")
        let address = isLiteral ? String(name.dropFirst().dropLast()) : name
        return address.isEmpty ? nil : address
    }

    /// The port, of the scheme when the request names none.
    var serverPort: Int? {
        guard let host else { return nil }
        if let mark = Self.portMark(of: host) { return Int(host[host.index(after: mark)...]) }
        return head.scheme?.lowercased() == "https" ? 443 : 80
    }

    /// The colon before the port; those inside an IPv6 address are none.
    private static func portMark(of host: String) -> String.Index? {
        guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return nil }
        return colon
    }
}
#endif
