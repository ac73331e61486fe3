#if AsyncHTTPClient
import AsyncHTTPClient
import Pipeline

/// The clients of a transport: one that connects as configured, and one for each proxy of its policy.
///
/// An AsyncHTTPClient client has one proxy for all hosts and both schemes.
struct AsyncHTTPClientRoutes: Sendable {
    private let direct: AsyncHTTPClientLease
    /// `nil` if no proxy but that of the configuration can apply.
    private let choices: ProxyChoices?
    private let proxied: ProxyClients?

    /// Uses a client that belongs to the caller.
    init(shared client: HTTPClient) {
        direct = AsyncHTTPClientLease(sharing: client)
        choices = nil
        proxied = nil
    }

    /// Creates the transport's own clients.
    init(
        _ configuration: HTTPClient.Configuration,
        _ policy: AsyncHTTPClientTransport.ProxyPolicy,
        _ machine: Machine
    ) {
        direct = AsyncHTTPClientLease(makingClientWith: configuration)
        choices = ProxyChoices(policy, machine)
        proxied = choices.map { _ in ProxyClients(configuration) }
        precondition(
            choices == nil || configuration.proxy == nil,
            "configuration.proxy is set, so proxies cannot come from elsewhere"
        )
    }

    /// Returns the client for a request.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest`, `clientClosed` or `transport`.
    func client(for request: PipelineRequest) async throws -> AsyncHTTPClientLease {
        guard let proxied, let (choice, route) = try choices?.choice(for: request) else { return direct }
        return try await proxied.client(for: choice, route)
    }

    func shutdown() async throws {
        try await direct.shutdown()
        try await proxied?.shutdown()
    }
}
#endif
