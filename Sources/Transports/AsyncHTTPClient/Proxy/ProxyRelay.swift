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
    private struct State {
        var isClosed = false
        var port = 0
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// The last failure for each target.
        var failures: [ProxyTarget: PipelineError] = [:]
    }

    let proxy: ProxyChoice
    let tls: NIOSSLContext?
    let connectTimeout: TimeAmount
    private let token: String
    private let state = Mutex(State())

    /// The most targets whose last failure is kept.
    private static let maximumFailureCount = 1_000

    private init(_ proxy: ProxyChoice, _ tls: NIOSSLContext?, _ connectTimeout: TimeAmount) {
        self.proxy = proxy
        self.tls = tls
        self.connectTimeout = connectTimeout
        var random = SystemRandomNumberGenerator()
        token = (0..<2).map { _ in String(random.next() as UInt64, radix: 16) }.joined(separator: "-")
    }

    /// Starts a relay, which uses the client's time for connecting and its trusted authorities.
    ///
    /// - Throws: an error of NIO if no port can be opened or the authorities cannot be read.
    static func start(
        for proxy: ProxyChoice,
        _ configuration: HTTPClient.Configuration
    ) async throws -> ProxyRelay {
        var tls: NIOSSLContext?
        if proxy.route.kind == .https {
            let settings = makeTLSConfiguration(configuration.tlsConfiguration ?? .makeClientConfiguration())
            tls = try await NIOThreadPool.singleton.runIfActive { try NIOSSLContext(configuration: settings) }
        }
        // AsyncHTTPClient's own default.
        let relay = ProxyRelay(proxy, tls, configuration.timeout.connect ?? .seconds(10))
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
        relay.state.withLock { $0.port = listener.localAddress?.port ?? 0 }
        relay.add(listener)
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
    var clientProxy: HTTPClient.Configuration.Proxy {
        .server(host: "127.0.0.1", port: state.withLock(\.port), authorization: .bearer(tokens: token))
    }

    /// Returns whether a client sent the relay's secret; the time depends only on the length.
    func accepts(_ authorization: some StringProtocol) -> Bool {
        let (given, expected) = (Array(authorization.utf8), Array("Bearer \(token)".utf8))
        guard given.count == expected.count else { return false }
        return zip(given, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    // MARK: Failures

    func report(_ fault: ProxyFault, of target: ProxyTarget) {
        let error = fault.error(from: proxy.name)
        state.withLock { state in
            if state.failures.count >= Self.maximumFailureCount, state.failures[target] == nil {
                state.failures.removeAll()
            }
            state.failures[target] = error
        }
    }

    /// Returns the reason why AsyncHTTPClient got no tunnel, or `nil` if the error has another cause.
    func failure(_ error: any Error, of request: PipelineRequest) -> PipelineError? {
        guard let error = error as? HTTPClientError, error == .invalidProxyResponse else { return nil }
        let known = ProxyTarget(request).flatMap { target in state.withLock { $0.failures[target] } }
        return known ?? PipelineError(.proxy(.refused), "\(proxy.name) opened no tunnel to the host")
    }

    // MARK: Connections

    /// Closes a connection with the relay.
    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.channels[id] = channel }
            return state.isClosed
        }
        guard !isClosed else { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.state.withLock { $0.channels[id] = nil }
        }
    }

    /// Closes the port and all connections, and waits until they are closed.
    func close() async {
        let channels = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
        for channel in channels { try? await channel.closeFuture.get() }
    }
}
#endif
