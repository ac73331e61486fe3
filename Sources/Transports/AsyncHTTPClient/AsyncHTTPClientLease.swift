#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOSSL
import Synchronization

/// A client, and whether it ends with the last one who holds it.
final class AsyncHTTPClientLease: Sendable {
    let client: HTTPClient
    /// The exchanges to which the client's connections report; `nil` for a client that is shared.
    let exchanges: AsyncHTTPClientExchanges?
    /// What the client connects with, for requests that must not get a connection of its pool.
    ///
    /// AsyncHTTPClient keeps the connections of requests with a configuration of their own apart from all others.
    let tlsConfiguration: TLSConfiguration?
    /// The longest that a request waits for a connection; zero for a client that is shared, of which it is not known.
    let connectTimeout: TimeAmount

    /// Whether `shutdown` was called here; what the owner of a shared client does is not known.
    var isShutDown: Bool { hasEnded.withLock { $0 } }

    private let hasEnded = Mutex(false)

    /// Whether it is a client of the transport's own, which marks what happens to its connections.
    var marksConnections: Bool { exchanges != nil }

    /// Leases a client that others use, too, and shut down.
    init(sharing client: HTTPClient) {
        self.client = client
        exchanges = nil
        tlsConfiguration = nil
        connectTimeout = .zero
    }

    /// Makes a client, which ends with the lease.
    init(makingClientWith configuration: HTTPClient.Configuration) {
        var configuration = configuration
        let exchanges = AsyncHTTPClientExchanges()
        AsyncHTTPClientConnections.prepare(&configuration, informationalLimit: 100, exchanges)
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        self.exchanges = exchanges
        tlsConfiguration = configuration.tlsConfiguration ?? .makeClientConfiguration()
        // AsyncHTTPClient's own default.
        connectTimeout = configuration.timeout.connect ?? .seconds(10)
    }

    deinit {
        guard exchanges != nil else { return }
        // A client that was shut down before says so; it keeps itself until it has ended.
        Task { [client] in try? await client.shutdown() }
    }

    func shutdown() async throws {
        guard exchanges != nil else { return }
        hasEnded.withLock { $0 = true }
        do {
            try await client.shutdown()
        } catch let error as HTTPClientError where error == .alreadyShutdown {}
    }

    /// The most connections with HTTP/1.1 to a host, unless the configuration says otherwise.
    static var defaultConnectionsPerHost: Int {
        #if canImport(Darwin)
        8
        #else
        64
        #endif
    }
}
#endif
