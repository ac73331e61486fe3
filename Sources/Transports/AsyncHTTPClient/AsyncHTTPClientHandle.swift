#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOSSL
import Synchronization

/// A client, shut down with the last reference to it if it belongs to the transport.
final class AsyncHTTPClientHandle: Sendable {
    let client: HTTPClient
    /// The exchanges to which the client's connections report; `nil` for a shared client.
    let exchanges: AsyncHTTPClientExchanges?
    /// The client's TLS configuration, for requests that need a pool of their own.
    ///
    /// AsyncHTTPClient keeps connections of requests with their own configuration separate from all others.
    let tlsConfiguration: TLSConfiguration?
    /// The longest that a request waits for a connection; zero for a shared client, where it is not known.
    let connectTimeout: TimeAmount

    /// Whether `shutdown` was called here; a shutdown by the owner of a shared client is not noticed.
    var isShutDown: Bool { hasEnded.withLock { $0 } }

    /// The relay through which the client connects to its proxy.
    let relay: ProxyRelay?

    private let hasEnded = Mutex(false)

    /// Uses a client that its owner shares and shuts down.
    init(sharing client: HTTPClient) {
        self.client = client
        relay = nil
        exchanges = nil
        tlsConfiguration = nil
        connectTimeout = .zero
    }

    /// Creates a client that is shut down with the handle, and with it the relay through which it connects, if any.
    init(makingClientWith settings: AsyncHTTPClientSettings, relay: ProxyRelay? = nil) {
        var configuration = settings.configuration
        if let relay { configuration.proxy = relay.clientProxy }
        self.relay = relay
        let exchanges = AsyncHTTPClientExchanges(
            hasPins: settings.pinCheck != nil,
            headLimit: settings.headLimit
        )
        AsyncHTTPClientConnections.prepare(&configuration, informationalLimit: 100, exchanges, settings.pinCheck)
        client = HTTPClient(eventLoopGroup: settings.group, configuration: configuration)
        self.exchanges = exchanges
        tlsConfiguration = configuration.tlsConfiguration ?? .makeClientConfiguration()
        // AsyncHTTPClient's own default.
        connectTimeout = configuration.timeout.connect ?? .seconds(10)
    }

    deinit {
        guard exchanges != nil else { return }
        // If the client was shut down before, this throws. The client keeps itself alive until it has shut down.
        Task { [client, relay] in try? await Self.end(client, relay) }
    }

    /// Shuts a client down, which waits for connections that are being opened; closing the relay ends those.
    private static func end(_ client: HTTPClient, _ relay: ProxyRelay?) async throws {
        async let end: Void = client.shutdown()
        await relay?.close()
        try await end
    }

    func shutdown() async throws {
        guard exchanges != nil else { return }
        hasEnded.withLock { $0 = true }
        do {
            try await Self.end(client, relay)
        } catch let error as HTTPClientError where error == .alreadyShutdown {}
    }

    /// The most HTTP/1.1 connections to a host, unless the configuration sets another number.
    static var defaultConnectionsPerHost: Int {
        #if canImport(Darwin)
        8
        #else
        64
        #endif
    }
}
#endif
