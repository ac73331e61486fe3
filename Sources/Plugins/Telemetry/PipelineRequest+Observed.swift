#if Metrics || Tracing
import HTTPTypes
import Pipeline

/// What metrics and traces record about a request: few distinct values, and no secrets.
extension PipelineRequest {
    private static let knownMethods: Set<HTTPRequest.Method> = Set(
        [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch]
            + ["QUERY"].compactMap { HTTPRequest.Method($0) }
    )

    /// The method, or `_OTHER` for a method that no RFC defines, which keeps the number of values small.
    var observedMethod: String {
        Self.observedMethod(method)
    }

    /// Returns the method, or `_OTHER` for a method that no RFC defines.
    static func observedMethod(_ method: HTTPRequest.Method) -> String {
        knownMethods.contains(method) ? method.rawValue : "_OTHER"
    }

    /// The host in lower case, without port and brackets; `nil` if there is none.
    var serverAddress: String? {
        guard let host else { return nil }
        let end = Self.portMark(of: host) ?? host.endIndex
        let name = host[..<end].lowercased()
        let isLiteral = name.hasPrefix("[") && name.hasSuffix("]")
        let address = isLiteral ? String(name.dropFirst().dropLast()) : name
        return address.isEmpty ? nil : address
    }

    /// The port of the request, or the scheme's default if the request names none.
    var serverPort: Int? {
        guard let host else { return nil }
        if let mark = Self.portMark(of: host) { return Int(host[host.index(after: mark)...]) }
        return head.scheme?.lowercased() == "https" ? 443 : 80
    }

    /// The colon before the port; colons inside an IPv6 address do not count.
    private static func portMark(of host: String) -> String.Index? {
        guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return nil }
        return colon
    }
}
#endif
