#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import PipelineCore
import Synchronization

/// A relay on a port of 127.0.0.1 that connects AsyncHTTPClient with a proxy.
///
/// AsyncHTTPClient cannot connect to a proxy over TLS, cannot send a credential over SOCKS5, and does not say why a
/// tunnel was refused. It therefore connects to this relay as to an HTTP proxy. The relay opens the tunnel at the real
/// proxy and then passes bytes on in both directions, no faster than they are taken.
///
/// The relay serves only clients that send its secret, 128 random bits, so that no other process can use the proxy. It
/// never sends the secret to the proxy.
final class ProxyRelay: Sendable {
    private struct Board {
        var isClosed = false
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// The last failure for each target.
        var failures: [ProxyTarget: PipelineError] = [:]
    }

    let route: AsyncHTTPClientTransport.ProxyPolicy.Route
    let tls: NIOSSLContext?
    let connectTimeout: TimeAmount
    private let name: String
    private let token: String
    private let board = Mutex(Board())
    private let listener = Mutex<(any Channel)?>(nil)

    /// The most targets whose last failure is kept.
    private static let maximumFailureCount = 1_000

    private init(
        _ choice: ProxyChoice,
        _ route: AsyncHTTPClientTransport.ProxyPolicy.Route,
        _ tls: NIOSSLContext?,
        _ connectTimeout: TimeAmount
    ) {
        self.route = route
        self.tls = tls
        self.connectTimeout = connectTimeout
        name = choice.name
        var random = SystemRandomNumberGenerator()
        token = (0..<2).map { _ in String(random.next() as UInt64, radix: 16) }.joined(separator: "-")
    }

    /// Starts a relay, which uses the client's time for connecting and its trusted authorities.
    ///
    /// - Throws: an error of NIO if no port can be opened or the authorities cannot be read.
    static func start(
        for choice: ProxyChoice,
        _ route: AsyncHTTPClientTransport.ProxyPolicy.Route,
        _ configuration: HTTPClient.Configuration
    ) async throws -> ProxyRelay {
        var tls: NIOSSLContext?
        if route.kind == .https {
            let settings = makeTLSConfiguration(configuration.tlsConfiguration ?? .makeClientConfiguration())
            tls = try await NIOThreadPool.singleton.runIfActive { try NIOSSLContext(configuration: settings) }
        }
        // AsyncHTTPClient's own default.
        let relay = ProxyRelay(choice, route, tls, configuration.timeout.connect ?? .seconds(10))
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ProxyRelayEntrance(relay))
                    relay.add(channel)
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        relay.listener.withLock { $0 = listener }
        return relay
    }

    /// The trusted authorities and versions of the client, without its identity, and always with verification.
    static func makeTLSConfiguration(_ configuration: TLSConfiguration) -> TLSConfiguration {
        var configuration = configuration
        configuration.certificateChain = []
        configuration.privateKey = nil
        configuration.applicationProtocols = ["http/1.1"]
        configuration.certificateVerification = .fullVerification
        return configuration
    }

    /// The relay as AsyncHTTPClient's proxy.
    var proxy: HTTPClient.Configuration.Proxy {
        let port = listener.withLock { $0?.localAddress?.port }
        return .server(host: "127.0.0.1", port: port ?? 0, authorization: .bearer(tokens: token))
    }

    /// Returns whether a client sent the relay's secret; the time depends only on the length.
    func accepts(_ authorization: some StringProtocol) -> Bool {
        let (given, expected) = (Array(authorization.utf8), Array("Bearer \(token)".utf8))
        guard given.count == expected.count else { return false }
        return zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    // MARK: Failures

    func report(_ fault: ProxyFault, of target: ProxyTarget) {
        let error = fault.error(from: name)
        board.withLock { board in
            if board.failures.count >= Self.maximumFailureCount, board.failures[target] == nil {
                board.failures.removeAll()
            }
            board.failures[target] = error
        }
    }

    /// Returns the reason why AsyncHTTPClient got no tunnel, or `nil` if the error has another cause.
    func failure(_ error: any Error, of request: PipelineRequest) -> PipelineError? {
        guard let error = error as? HTTPClientError, error == .invalidProxyResponse else { return nil }
        let known = ProxyTarget(request).flatMap { target in board.withLock { $0.failures[target] } }
        return known ?? PipelineError(.proxy(.refused), "\(name) opened no tunnel to the host")
    }

    // MARK: Connections

    /// Closes a connection with the relay.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isClosed = board.withLock { board in
            if !board.isClosed { board.channels[id] = channel }
            return board.isClosed
        }
        guard !isClosed else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.board.withLock { $0.channels[id] = nil }
        }
    }

    /// Closes the port and all connections, and waits until they are closed.
    func close() async {
        let channels = board.withLock { board in
            board.isClosed = true
            return Array(board.channels.values)
        }
        let listener = listener.withLock { $0 }
        for channel in [listener].compactMap(\.self) + channels { channel.close(promise: nil) }
        for channel in [listener].compactMap(\.self) + channels { try? await channel.closeFuture.get() }
    }
}
#endif
