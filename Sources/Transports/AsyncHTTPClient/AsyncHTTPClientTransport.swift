#if AsyncHTTPClient
public import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOSSL
public import PipelineCore

/// A transport that uses AsyncHTTPClient, on SwiftNIO: HTTP/1.1, and HTTP/2 if a server offers it over TLS.
///
/// It follows no redirects and decodes no content codings. It sends exactly what plugins saw, and plugins see exactly
/// what was received. Bodies are streamed in both directions, no faster than they are read. Available if the package
/// trait `AsyncHTTPClient` is enabled.
///
/// ```swift
/// let transport = AsyncHTTPClientTransport()
/// let provider = Provider<GitHub>(transport: transport, plugins: [LoggingPlugin(level: .info)])
/// let zen = try await provider.request(.zen).mapString()
/// try await transport.shutdown()
/// ```
///
/// **Effects**
///
/// - Request fields are sent in order, including repeated ones. AsyncHTTPClient sets Host and the framing of the body
///   (Content-Length, or Transfer-Encoding for a stream of unknown length) and ignores those fields in the request. It
///   adds nothing else.
/// - Response fields keep their order, their case (HTTP/2 has lower case only) and repeats, including Set-Cookie. The
///   reason phrase is lost.
/// - For a call made with `request`, the body is read into memory up to
///   ``ProviderConfiguration/Limits/bufferedBodyByteCount``. Otherwise, and for a redirect, it is a stream. A reader
///   that pauses makes the server wait; dropping the stream closes the exchange.
/// - A streamed body is sent as it is produced. The next piece is read when the network has taken the previous one. If
///   the exchange ends before the body, reading the body is cancelled. A response with a status of 300 or above ends
///   the upload at once; any other response ends it when the response has been read to its end.
/// - Connections, TLS and the pool are configured by `configuration`. The transport writes no log and creates no spans.
/// - `proxies` chooses HTTP, HTTPS and SOCKS5 proxies, also by host, see ``ProxyPolicy``. By default, `configuration`
///   has the only proxy, and environment variables are ignored.
/// - A server's certificate must have the host of the URL as a name, or as an address if the URL has an address. The
///   common name and the address to which a name resolves do not count (RFC 9525). This applies to a client of one's
///   own unless its configuration turns verification off, to every shared client with the default configuration, and to
///   HTTPS proxies.
/// - `trust` and `identities` apply to the transport's own clients, one for each rule. With either of them, TLS is that
///   of NIOSSL on every platform.
/// - The transport's own client reports when an exchange has a connection, over HTTP/1.1 and HTTP/2.
///   ``PipelineExchange/connectionWait`` is the time until then, and the time of an attempt starts there. A
///   shared client cannot report it: the time of an attempt starts with its exchange.
/// - If a reused connection is lost before any byte of the next response, the transport's own client sends the request
///   on another connection, at most twice. It resends a request with a safe method (GET, HEAD, OPTIONS, TRACE, QUERY)
///   and a replayable body, and any request of which nothing was written. Any other request that may have been written,
///   such as a POST, fails with `connectionLost`. All of this is one exchange, within the time of its attempt (RFC 9112
///   §9.3.1).
/// - Over HTTP/2, a server that resets a stream with REFUSED_STREAM, or closes the connection with a GOAWAY below the
///   number of the stream, has processed nothing of the request. The transport then sends the request a second time,
///   whatever its method is, if its body is replayable. A second refusal, or a body that is not replayable, fails with
///   `connectionLost` (RFC 9113 §8.7). With a shared client whose configuration does not come from
///   ``makeDefaultConfiguration(informationalCount:)``, a GOAWAY always fails with `connectionLost`.
/// - On each HTTP/1.1 connection, bytes that belong to no response close the connection, and informational responses
///   are counted. To do this, the transport extends `configuration.http1_1ConnectionDebugInitializer`; an existing
///   initializer is called first.
///
/// **Lifecycle**: a transport created with a configuration has its own client. ``shutdown()`` shuts it down. Without
/// that call, the client shuts down automatically when the transport, the providers that hold it and all bodies being
/// read are released. A transport created with a client never shuts down that client.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `configuration` | ``makeDefaultConfiguration(informationalCount:)`` | | |
/// | `configuration.timeout.connect` | 10 s, for opening a connection including the TLS handshake, and for waiting until one is free | | |
/// | `configuration.tlsConfiguration` | TLS 1.2 and later, the system's authorities, no client certificate | | |
/// | `connectionsPerHost` | the number in the configuration, by default 64, and 8 on Apple platforms | HTTP/1.1 connections to a host | 1 and up |
/// | `configuration.connectionPool` | idle connections kept 60 s | | |
/// | `proxies` | ``ProxyPolicy/configuration`` | | |
/// | `trust` | ``TrustPolicy/system`` | | |
/// | `identities` | none | | |
/// | `informationalCount` | 100, set with ``makeDefaultConfiguration(informationalCount:)`` | responses with a status of 100 to 199 | 0 and up |
/// | `headTimeout` | none | time from the connection of an exchange to the header fields of its response | more than zero |
/// | `readTimeout` | 60 s | time without a byte of the response | more than zero |
/// | `writeTimeout` | 60 s | time in which the server accepts no byte of the body | more than zero |
///
/// Over HTTP/1.1, a server has 30 s from the first byte of a response to the end of its header fields. It may therefore
/// not send them byte by byte without end.
///
/// For the header fields, `readTimeout` starts when the exchange has its connection, or at the end of a body that is
/// sent in pieces (a stream, a file, more than 64 KiB). For the body, it applies while a reader waits for the next
/// bytes, so a reader that pauses does not cause a timeout. A call's own idle timeout replaces it for the body. With a
/// shared client, `headTimeout` and `readTimeout` start with the exchange and include the wait for a connection.
/// `writeTimeout` applies while a piece waits to be accepted, not while it is produced. All of these are real time,
/// whatever the provider's clock is.
///
/// Leave AsyncHTTPClient's own `configuration.timeout.read` and `.write` at `nil`. The first keeps running while a
/// reader pauses; the second does not detect a server that accepts nothing.
///
/// **Errors**
///
/// | code | when |
/// |---|---|
/// | `connect.refused`, `connect.unreachable`, `dns` | the connection cannot be opened |
/// | `offline` | the machine has no route to the host; or the host name did not resolve, or the host was not reached, while no interface but loopback was up |
/// | `proxy.authentication`, `proxy.refused` | a proxy requires another credential, or opens no connection to the host, see ``ProxyPolicy`` |
/// | `invalidRequest.credential`, `invalidRequest.authority` | a proxy must not receive the request, or cannot be used, see ``ProxyPolicy`` |
/// | `tls.certificate` | the server's certificate is not signed by a trusted authority, has expired or is not valid yet |
/// | `tls.hostName` | the certificate does not name the host of the URL; nothing was sent |
/// | `tls.handshake` | any other handshake failure, including a server that closes the connection during the handshake or requires another client certificate |
/// | `tls.pin` | the server's key is not pinned, or a pinned host was requested over http, see ``TrustPolicy`` |
/// | `unsupported.clientIdentity` | the client identity is in the Keychain, see ``ClientIdentities`` |
/// | `timeout.connect` | no connection was opened within `configuration.timeout.connect` |
/// | `timeout.pool` | all connections to the host stayed busy for `configuration.timeout.connect`; nothing was sent |
/// | `timeout.head` | the header fields did not arrive within `readTimeout` or `headTimeout`, or 30 s after their first byte |
/// | `timeout.idle` | no byte of the response's body arrived for `readTimeout` |
/// | `timeout.write` | the server accepted no byte of the body for `writeTimeout` |
/// | `connectionLost` | the connection ended without a response, was reset, or ended because a shared client was shut down |
/// | `truncated` | the body is shorter than announced, or TLS does not confirm the end of a body without a length |
/// | `malformedResponse` | the response is not HTTP, is an unrequested 101, has a transfer coding other than chunked, or its length is repeated or not a number; with HTTP/2 also if header fields of more than 16 KiB are compressed to less, or if the server sends too many frames that carry nothing |
/// | `limit.headerBytes` | the header fields have more than 256 KiB, or 16 KiB with HTTP/2, whatever ``ProviderConfiguration/Limits/headerByteCount`` is; or over HTTP/1.1 the status line, or the extensions of a chunk, more than 1 MiB |
/// | `limit.headerCount` | there are more header fields than ``ProviderConfiguration/Limits/headerCount``, or more than 1,000 trailer fields, whatever that limit is |
/// | `limit.informational` | more than `informationalCount` responses with a status of 100 to 199 preceded a response over HTTP/1.1 |
/// | `limit.bodyBytes` | the body of a `request` call is larger than ``ProviderConfiguration/Limits/bufferedBodyByteCount`` |
/// | `bodyChanged` | a body does not have its announced length |
/// | `invalidRequest.body` | a TRACE request has a body |
/// | `clientClosed` | the client was shut down |
///
/// Cancellation throws `CancellationError` at once and then closes the exchange. Errors thrown by a streamed request
/// body are rethrown unchanged. A TLS failure occurs before any part of the request is sent, with one exception: with
/// TLS 1.3, a server may refuse the client's certificate after the client has begun to send. With a shared client, a
/// reset during a handshake is `connectionLost`, and so is that refusal over HTTP/2.
///
/// **Secrets**: no error quotes a URL, a field or a body.
public final class AsyncHTTPClientTransport: Transport {
    private let routes: AsyncHTTPClientRoutes
    private let machine: Machine
    private let limits: AsyncHTTPClientLimits

    /// Creates a transport with its own client.
    ///
    /// - Parameters:
    ///   - configuration: how the client connects. Its settings for redirects and decompression are ignored.
    ///   - connectionsPerHost: the most HTTP/1.1 connections to a host, 1 or more; other requests wait. Over HTTP/2,
    ///     one connection carries many requests. `nil` uses the number in the configuration.
    ///   - proxies: the source of proxies. Any but `configuration` stops the program if the configuration has a proxy.
    ///   - trust: the authorities, pins and TLS versions by host; defaults to those of the configuration for all hosts.
    ///   - identities: the client certificates by host; defaults to that of the configuration for all hosts.
    ///   - headTimeout: the longest time from the moment an exchange has its connection to the header fields of its
    ///     response, including sending the body; `nil` for no limit.
    ///   - readTimeout: the longest time without a byte of the response; `nil` for no limit.
    ///   - writeTimeout: the longest time in which the server accepts no byte of the body; `nil` for no limit.
    public convenience init(
        configuration: HTTPClient.Configuration = makeDefaultConfiguration(),
        connectionsPerHost: Int? = nil,
        proxies: ProxyPolicy = .configuration,
        trust: TrustPolicy = .system,
        identities: ClientIdentities? = nil,
        headTimeout: Duration? = nil,
        readTimeout: Duration? = .seconds(60),
        writeTimeout: Duration? = .seconds(60)
    ) {
        self.init(
            configuration: configuration,
            connectionsPerHost: connectionsPerHost,
            proxies: proxies,
            trust: trust,
            identities: identities,
            machine: .real,
            headTimeout: headTimeout,
            readTimeout: readTimeout,
            writeTimeout: writeTimeout
        )
    }

    /// Creates the same transport for a machine that a test may provide.
    convenience init(
        configuration: HTTPClient.Configuration = makeDefaultConfiguration(),
        connectionsPerHost: Int? = nil,
        proxies: ProxyPolicy = .configuration,
        trust: TrustPolicy = .system,
        identities: ClientIdentities? = nil,
        machine: Machine,
        headLimit: Duration = .seconds(30),
        headTimeout: Duration? = nil,
        readTimeout: Duration? = .seconds(60),
        writeTimeout: Duration? = .seconds(60)
    ) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        if let count = connectionsPerHost {
            precondition(count > 0, "connectionsPerHost is \(count), not 1 or more")
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = count
        }
        let trust = AsyncHTTPClientTrust(trust, identities)
        let routes = AsyncHTTPClientRoutes(configuration, proxies, trust, machine, headLimit: headLimit)
        self.init(routes, machine, AsyncHTTPClientLimits(head: headTimeout, read: readTimeout, write: writeTimeout))
    }

    /// Creates a transport that shares a client, which the caller shuts down.
    ///
    /// - Parameters:
    ///   - client: a client that neither follows redirects nor decompresses. Create it with
    ///     ``makeDefaultConfiguration(informationalCount:)``. `HTTPClient.shared` does both and stops the program; a
    ///     response for which another client has followed a redirect is an error.
    ///   - headTimeout: as for the transport's own client, but from the start of an exchange, including the wait for a
    ///     connection.
    ///   - readTimeout: as for the transport's own client, but for the header fields from the start of an exchange.
    ///   - writeTimeout: as for the transport's own client.
    public convenience init(
        client: HTTPClient,
        headTimeout: Duration? = nil,
        readTimeout: Duration? = .seconds(60),
        writeTimeout: Duration? = .seconds(60)
    ) {
        precondition(client !== HTTPClient.shared, "HTTPClient.shared follows redirects and decompresses")
        let limits = AsyncHTTPClientLimits(head: headTimeout, read: readTimeout, write: writeTimeout)
        self.init(AsyncHTTPClientRoutes(shared: client), .real, limits)
    }

    private init(_ routes: AsyncHTTPClientRoutes, _ machine: Machine, _ limits: AsyncHTTPClientLimits) {
        self.routes = routes
        self.machine = machine
        self.limits = limits
    }

    /// Returns a configuration whose connections are guarded, also when a shared client uses it.
    ///
    /// It has 10 s for connecting, 64 HTTP/1.1 connections to a host (8 on Apple platforms), TLS 1.2 and later, no
    /// redirects, no decompression, no tracing, and one connection attempt for each exchange. Connections of a shared
    /// client with it send nothing to a server whose certificate does not name the host, even if verification was
    /// turned off afterwards.
    ///
    /// - Parameter informationalCount: the most responses with a status of 100 to 199 before a response over HTTP/1.1,
    ///   0 or more.
    /// - Returns: the configuration, for this transport or for a client to share.
    public static func makeDefaultConfiguration(
        informationalCount: Int = 100
    ) -> HTTPClient.Configuration {
        precondition(informationalCount >= 0, "informationalCount is \(informationalCount), not 0 or more")
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(10)),
            decompression: .disabled
        )
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            AsyncHTTPClientHandle.defaultConnectionsPerHost
        configuration.tracing.tracer = nil
        AsyncHTTPClientConnections.prepare(&configuration, informationalLimit: informationalCount)
        return configuration
    }

    /// The client identities that this transport cannot present, because they are in the Keychain.
    public var unsupportedSettings: [UnsupportedSetting] { routes.trust?.unsupportedSettings ?? [] }

    /// `false`: bodies arrive as they were sent.
    public var decodesContent: Bool { false }

    /// The client identity for the host of a request over https.
    public func identity(for request: PipelineRequest) -> String? { routes.trust?.name(for: request) }

    /// Returns `true` for a timeout from one second to one day.
    public func enforcesIdleTimeout(_ timeout: Duration) -> Bool {
        timeout >= .seconds(1) && timeout <= .seconds(86_400)
    }

    /// Sends a request and returns its response.
    ///
    /// - Throws: the errors listed for the type.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        try Task.checkCancellation()
        let request = try await request.readingEmptyStream()
        let client = try await routes.client(for: request)
        let identity = try routes.trust?.identity(for: request)
        // In case a transport around this one does not say so.
        if let identity { context.addIdentity(identity.fingerprint) }
        if client.exchanges != nil { context.report(.connectionAwaited) }
        var (tryCount, wasRefused) = (1, false)
        while true {
            let attempt = makeTry(request, context, client)
            do {
                return try await send(request, context, client, attempt, identity, tryCount: tryCount)
            } catch let error as PipelineError where error.code == .connectionLost {
                // Only a request of which the server has processed nothing may be sent again over a shared client.
                let isRefused = Self.isRefused(request, error)
                let isAllowed = isRefused ? !wasRefused : attempt?.allowsAnother(request) ?? false
                guard tryCount < Self.maximumTryCount, isAllowed else { throw error }
                tryCount += 1
                wasRefused = wasRefused || isRefused
            }
        }
    }

    /// Returns whether the server has processed nothing of a request that can be sent again.
    private static func isRefused(_ request: PipelineRequest, _ error: PipelineError) -> Bool {
        request.body.isReplayable && AsyncHTTPClientErrorMapping.isRefusal(error.underlyingError)
    }

    /// Returns a request on one connection; `nil` for a shared client, whose connections do not report.
    private func makeTry(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ client: AsyncHTTPClientHandle
    ) -> AsyncHTTPClientTry? {
        guard let exchanges = client.exchanges else { return nil }
        let isInPieces = AsyncHTTPClientUpload.isInPieces(request.body)
        // If a reader may pause, or an upload is in pieces, the exchange limits the waits instead of the connection.
        let idle = isInPieces || context.wantsStream ? nil : limits.idle(request, context)
        var report: (@Sendable (AsyncHTTPClientPinCheck.Finding) -> Void)?
        if exchanges.hasPins, let trust = routes.trust { report = { trust.report($0, request.ruleHost, context) } }
        return AsyncHTTPClientTry(
            context,
            headTimeout: limits.head(isInPieces: isInPieces),
            idleTimeout: idle.map(TimeAmount.init),
            reportTrust: report
        )
    }

    /// The most connections that are tried for a request when earlier ones turn out to be dead.
    private static let maximumTryCount = 3

    private func send(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ client: AsyncHTTPClientHandle,
        _ attempt: AsyncHTTPClientTry?,
        _ identity: ClientIdentity?,
        tryCount: Int
    ) async throws -> PipelineResponse {
        let timeouts = attempt?.idleTimeout == nil ? limits.timeouts(of: request, context) : nil
        let upload = AsyncHTTPClientUpload(request.body, context, client.client.eventLoopGroup, timeouts)
        do {
            var outgoing = upload.makeRequest(request.head)
            if identity != nil || tryCount > 1 {
                outgoing.tlsConfiguration = client.tlsConfiguration?.presenting(identity, tryCount: tryCount)
            }
            let id = attempt.flatMap { client.exchanges?.begin($0, in: &outgoing.headers) }
            defer { id.map { client.exchanges?.end($0) } }
            let response = try await execute(outgoing, upload, client)
            let body = AsyncHTTPClientBody(response.body, upload, client)
            guard response.history.count <= 1 else {
                throw PipelineError(.transport, "the shared HTTPClient follows redirects, which the pipeline has to do")
            }
            let head = try AsyncHTTPClientHead(response, context.limits)
            upload.headHasCome(head.response.status.code, context)
            let byteCount = head.byteCount(to: request.method)
            guard !context.wantsStream, !head.isRedirect else {
                return PipelineResponse(
                    request: request,
                    head: head.response,
                    body: .stream(body, byteCount: byteCount)
                )
            }
            let data = try await body.collect(upTo: context.limits.bufferedBodyByteCount, announced: byteCount ?? 0)
            return PipelineResponse(request: request, head: head.response, body: .bytes(data))
        } catch {
            upload.end()
            let isHandshakeKnown = client.exchanges != nil && request.head.scheme == "https"
            let phase = AsyncHTTPClientErrorMapping.Phase.head(isHandshakeKnown: isHandshakeKnown)
            let error = routes.trust?.failure(error, of: request, context) ?? error
            let cause = client.isShutDown ? error : client.relay?.failure(error, of: request) ?? error
            throw machine.explain(AsyncHTTPClientErrorMapping.pipelineError(for: cause, phase, of: client), of: request)
        }
    }

    /// Sends a request and waits for the header fields.
    ///
    /// If the connection does not report, the client's deadline is the only limit. If it does, the deadline includes
    /// the longest wait for a connection and is reached only if the request cannot be written.
    private func execute(
        _ request: HTTPClientRequest,
        _ upload: AsyncHTTPClientUpload,
        _ client: AsyncHTTPClientHandle
    ) async throws -> HTTPClientResponse {
        let limit = limits.head(isInPieces: upload.isInPieces)
        let deadline = limit.map { .now() + client.connectTimeout + $0 } ?? .distantFuture
        guard upload.isInPieces, let timeouts = upload.timeouts else {
            return try await client.client.execute(request, deadline: deadline)
        }
        return try await timeouts.run { try await client.client.execute(request, deadline: deadline) }
    }

    /// Closes all connections of the transport's own client.
    ///
    /// Calls in progress and later ones fail with `clientClosed`. Waits for connections that are being opened, for at
    /// most `configuration.timeout.connect`.
    ///
    /// Does nothing if the client is shared or already shut down.
    ///
    /// - Throws: an error of NIO if a connection could not be closed.
    public func shutdown() async throws {
        try await routes.shutdown()
    }
}
#endif
