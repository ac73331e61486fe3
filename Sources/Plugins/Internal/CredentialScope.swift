import Foundation
import HTTPTypes
import Pipeline

/// Where a credential may go: to the origin that its target names, and not readable on the way.
enum CredentialScope {
    /// Whether the request goes to the origin (scheme, host, port) of the call's endpoint.
    ///
    /// It does not when a plugin has led it elsewhere: what belongs to one server is not for another.
    static func isOwnOrigin(_ request: PipelineRequest, _ context: PipelineContext) -> Bool {
        guard let endpoint = try? PipelineRequest(url: context.endpoint.url) else { return false }
        return origin(of: request) == origin(of: endpoint)
    }

    /// Refuses to let a credential leave over http, except to the machine itself.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential`.
    static func requireConfidential(
        _ request: PipelineRequest,
        allowsCleartext: Bool,
        _ credential: String
    ) throws {
        guard !allowsCleartext, request.head.scheme != "https", !isLoopback(request.host ?? "") else { return }
        throw PipelineError(.invalidRequest(.credential), "\(credential) would leave over http, readable on the way")
    }

    /// Scheme and authority, without the port that the scheme has anyway.
    static func origin(of request: PipelineRequest) -> [String] {
        let scheme = (request.head.scheme ?? "").lowercased()
        let authority = (request.head.authority ?? "").lowercased()
        let port = scheme == "https" ? ":443" : ":80"
        return [scheme, authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority]
    }

    private static func isLoopback(_ authority: String) -> Bool {
        let host =
            authority.hasPrefix("[")
            ? String(authority.prefix { $0 != "]" }.dropFirst())
            : String(authority.prefix { $0 != ":" })
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
            .map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt8($0) : nil }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }
}
