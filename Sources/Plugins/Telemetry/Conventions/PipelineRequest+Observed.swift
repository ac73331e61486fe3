#if Telemetry
import HTTPTypes
import PipelineCore

/// A server as metrics and traces name it.
struct ObservedServer: Hashable, Sendable {
    /// The host in lower case, without brackets.
    let address: String
    let port: Int
}

extension PipelineRequest {
    /// The server of the request; `nil` if the request has no host.
    ///
    /// Without a port, the port is the default of the scheme.
    var observedServer: ObservedServer? {
        guard let host else { return nil }
        let mark = Self.portMark(of: host)
        let name = host[..<(mark ?? host.endIndex)].lowercased()
        let isLiteral = name.hasPrefix("[") && name.hasSuffix("]")
        let address = isLiteral ? String(name.dropFirst().dropLast()) : name
        guard !address.isEmpty else { return nil }
        let port = mark.flatMap { Int(host[host.index(after: $0)...]) }
        return ObservedServer(address: address, port: port ?? (head.scheme?.lowercased() == "https" ? 443 : 80))
    }

    /// The colon before the port; colons inside an IPv6 address do not count.
    private static func portMark(of host: String) -> String.Index? {
        guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return nil }
        return colon
    }
}

extension PipelineContext {
    /// The template of the target's path; `nil` after a redirect, which leads to another path.
    var observedTemplate: String? { hop == 0 ? target.pathTemplate : nil }
}
#endif
