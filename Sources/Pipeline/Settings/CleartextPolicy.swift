/// Where a secret may be sent over http, readable by anyone on the way.
///
/// Requests over https, and requests to a loopback address over any scheme, are allowed under every policy.
///
/// ```swift
/// AccessTokenPlugin(cleartext: .allowed) { _ in try await session.token() }
/// ```
public struct CleartextPolicy: Sendable, Hashable {
    private enum Kind { case loopbackOnly, allowed }

    private let kind: Kind

    /// Over http only to a loopback address: `localhost` and names below it, `127.0.0.0/8`, and `::1`.
    public static let loopbackOnly = CleartextPolicy(kind: .loopbackOnly)
    /// Over http to any host.
    public static let allowed = CleartextPolicy(kind: .allowed)

    /// Returns whether a request may carry a secret.
    ///
    /// - Parameter request: the request as it would be sent; its scheme and its host are compared.
    /// - Returns: `true` for https, for a loopback address, and with ``allowed``.
    public func allows(_ request: PipelineRequest) -> Bool {
        kind == .allowed || request.isConfidential
    }
}
