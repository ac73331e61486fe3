#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import PipelineCore

/// The clients for some hosts: one that connects as configured, and one for each proxy.
struct AsyncHTTPClientPaths: Sendable {
    let direct: AsyncHTTPClientLease
    private let proxied: ProxyClients?

    /// Uses a client that belongs to the caller.
    init(shared client: HTTPClient) {
        direct = AsyncHTTPClientLease(sharing: client)
        proxied = nil
    }

    /// Creates clients.
    ///
    /// - Parameters:
    ///   - settings: how the clients connect.
    ///   - relay: the configuration that applies to proxies; `nil` if there are none.
    init(_ settings: AsyncHTTPClientSettings, relay: HTTPClient.Configuration?) {
        direct = AsyncHTTPClientLease(makingClientWith: settings)
        proxied = relay.map { ProxyClients(settings, relay: $0) }
    }

    /// Returns the client for a proxy.
    ///
    /// - Throws: `PipelineError` with code `clientClosed` or `transport`.
    func client(
        for choice: ProxyChoice,
        _ route: AsyncHTTPClientTransport.ProxyPolicy.Route
    ) async throws -> AsyncHTTPClientLease {
        guard let proxied else { return direct }
        return try await proxied.client(for: choice, route)
    }

    func shutdown() async throws {
        let closed: Result<Void, any Error>
        do { closed = .success(try await direct.shutdown()) } catch { closed = .failure(error) }
        try await proxied?.shutdown()
        try closed.get()
    }
}

/// How the clients of a transport connect to some hosts.
struct AsyncHTTPClientSettings: Sendable {
    let configuration: HTTPClient.Configuration
    /// The longest time from the first byte of a response to the end of its header fields.
    let headLimit: TimeAmount
    var group: any EventLoopGroup = HTTPClient.defaultEventLoopGroup
    /// The check of each new connection; `nil` if the hosts are not pinned.
    var pinCheck: AsyncHTTPClientPinCheck?
}
#endif
