#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import PipelineCore
import Synchronization

/// The clients for some hosts: one that connects as configured, and one for each proxy, created with its first request.
final class AsyncHTTPClientClients: Sendable {
    private typealias Creation = Task<AsyncHTTPClientHandle, any Error>

    private let direct: AsyncHTTPClientHandle
    /// `nil` for a shared client, which has no proxies.
    private let settings: AsyncHTTPClientSettings?
    /// The clients that connect through proxies; `nil` after shutdown.
    private let proxied = Mutex<[ProxyChoice: Creation]?>([:])

    /// Uses a client that belongs to the caller.
    init(shared client: HTTPClient) {
        direct = AsyncHTTPClientHandle(sharing: client)
        settings = nil
    }

    init(_ settings: AsyncHTTPClientSettings) {
        direct = AsyncHTTPClientHandle(makingClientWith: settings)
        self.settings = settings
    }

    /// Returns the client for a proxy, or the one without.
    ///
    /// - Throws: `PipelineError` with code `clientClosed` after shutdown, and `transport` if no relay can be started.
    func client(for proxy: ProxyChoice?) async throws -> AsyncHTTPClientHandle {
        guard let proxy, let settings else { return direct }
        let creation: Creation? = proxied.withLock { clients in
            guard clients != nil else { return nil }
            if let creation = clients?[proxy] { return creation }
            let creation = Creation {
                let relay = try await ProxyRelay.start(for: proxy, settings.relayConfiguration)
                return AsyncHTTPClientHandle(makingClientWith: settings, relay: relay)
            }
            clients?[proxy] = creation
            return creation
        }
        guard let creation else { throw PipelineError(.clientClosed, "the client was shut down") }
        do {
            return try await creation.value
        } catch {
            // The next request tries again.
            proxied.withLock { clients in
                if clients?[proxy] == creation { clients?[proxy] = nil }
            }
            throw PipelineError(
                .transport,
                "the connection to \(proxy.name) could not be prepared",
                underlyingError: error
            )
        }
    }

    /// Returns all clients, which the caller shuts down, and creates no more.
    func close() async -> [AsyncHTTPClientHandle] {
        let creations = proxied.withLock { clients in
            defer { clients = nil }
            return clients.map { Array($0.values) } ?? []
        }
        var clients = [direct]
        for creation in creations {
            if let client = try? await creation.value { clients.append(client) }
        }
        return clients
    }
}

/// How the clients of a transport connect to some hosts.
struct AsyncHTTPClientSettings: Sendable {
    var configuration: HTTPClient.Configuration
    /// The configuration for the connections to proxies.
    let relayConfiguration: HTTPClient.Configuration
    /// The longest time from the first byte of a response to the end of its header fields.
    let headLimit: TimeAmount
    let group: any EventLoopGroup
    /// The check of each new connection; `nil` if the hosts are not pinned.
    var pinCheck: AsyncHTTPClientPinCheck?
}
#endif
