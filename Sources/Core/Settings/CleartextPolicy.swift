/// Where a secret may be sent over http, which anyone on the path can read.
///
/// Requests over https, and requests to a loopback address over any scheme, are allowed under every policy.
///
/// ```swift
/// AccessTokenPlugin(cleartext: .allowed) { _ in try await session.token() }
/// ```
public struct CleartextPolicy: Sendable, Hashable {
    private let allowsAll: Bool

    /// Allows http only to a loopback address: `localhost` and its subdomains, `127.0.0.0/8`, and `::1`.
    public static let loopbackOnly = CleartextPolicy(allowsAll: false)
    /// Allows http to any host.
    public static let allowed = CleartextPolicy(allowsAll: true)

    /// Returns whether a request may carry a secret.
    ///
    /// - Parameter request: the request as it would be sent; its scheme and host are compared.
    /// - Returns: `true` for https, for a loopback address, and under ``allowed``.
    public func allows(_ request: PipelineRequest) -> Bool {
        allowsAll || request.isConfidential
    }
}
