#if AsyncHTTPClient
public import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOSSL
public import Pipeline

/// Sends requests with AsyncHTTPClient, on SwiftNIO: HTTP/1.1, and HTTP/2 where a server offers it over TLS.
///
/// It follows no redirects and decodes no content codings: what plugins saw is what is sent, and what is on the wire is what they
/// see. Bodies pass in pieces in both directions, no faster than their reader takes them. It is there when the package trait
/// `AsyncHTTPClient` is on.
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
/// - Request fields go out in their order, repeats kept; Host and the framing of the body (Content-Length, or Transfer-Encoding for
///   a stream of unknown length) are AsyncHTTPClient's, those of the request are left out. Nothing else is added.
/// - Response fields keep their order, their case (HTTP/2 has lower case only) and repeats, Set-Cookie too. The reason phrase is lost.
/// - For a call made with `request` the body is read into memory up to ``PipelineLimits/bufferedBodyByteCount``; otherwise, and for
///   a redirect, it is a stream, and a reader that pauses makes the server wait. Dropping the stream closes the exchange.
/// - A streamed body is sent as it is made: the next piece is asked for when the network has taken the one before. When the exchange
///   ends before the body does, its reading is cancelled: an answer with a status of 300 or above ends the sending, any other when
///   it has been read to its end.
/// - Connections, TLS and the pool are those of the configuration. It writes no log and makes no spans of its own.
/// - Proxies are those of the configuration, and environment variables change nothing, unless `proxies` is
///   ``ProxyPolicy/environment``.
/// - A client of the transport's own reports when an exchange has a connection, over HTTP/1.1 and HTTP/2:
///   ``PipelineExchange/connectionWait`` is the wait until then, and the time of an attempt starts there. A client that is shared
///   cannot report it: an attempt counts from the start of its exchange.
/// - If a connection that has carried a response before is lost before any byte of the next one, a client of the transport's
///   own resends the request on a new connection, at most twice: a request with a safe method (GET, HEAD, OPTIONS, TRACE,
///   QUERY) and a body that can be replayed, and any request of which nothing was written. Any other request that may have been
///   written is `connectionLost`, such as a POST. All of this is one exchange, within the time of its attempt (RFC 9112 §9.3.1).
///
/// - On each connection with HTTP/1.1 bytes that belong to no answer close the connection, and informational answers are counted;
///   for that it adds to `configuration.http1_1ConnectionDebugInitializer`, after calling what is there.
///
/// **Lifecycle**: a transport made with a configuration has a client of its own. ``shutdown()`` ends it; without that it ends by
/// itself when the transport, the providers that hold it and the bodies that are still being read are gone. A transport made
/// with a client never ends that client.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `configuration` | ``makeDefaultConfiguration(informationalCount:)`` | | |
/// | `configuration.timeout.connect` | 10 s, for making a connection with the handshake of TLS, and for waiting until one is free | | |
/// | `configuration.tlsConfiguration` | TLS 1.2 and up, the system's authorities, no certificate of its own | | |
/// | `connectionsPerHost` | that of the configuration, by default 64, and 8 on Apple platforms | connections to a host with HTTP/1.1 | 1 and up |
/// | `configuration.connectionPool` | idle connections kept 60 s | | |
/// | `proxies` | ``ProxyPolicy/configuration`` | | |
/// | `informationalCount` | 100, set with ``makeDefaultConfiguration(informationalCount:)`` | answers of 100 to 199 | 0 and up |
/// | `headTimeout` | none | time from the connection of an exchange to the header fields of its response | more than zero |
/// | `readTimeout` | 60 s | time without a byte of the answer | more than zero |
/// | `writeTimeout` | 60 s | time in which the server takes no byte of the body | more than zero |
///
/// `readTimeout` counts for the header fields from the moment the exchange has its connection, or from the end of a body that is sent
/// in pieces (a stream, a file, more than 64 KiB). For the body it counts while a reader waits for the next bytes, so that a reader
/// that pauses is not taken for a slow server. A call with an idle timeout of its own has that for its body instead. With a client
/// that is shared, `headTimeout` and `readTimeout` start with the exchange and include the wait for a connection. `writeTimeout`
/// counts while a piece waits to be taken, not while it is made. These times are real ones, whatever the provider's clock. AsyncHTTPClient's own
/// `configuration.timeout.read`, which goes on while a reader pauses, and `.write`, which a server that takes nothing does not
/// exceed, are best left `nil`.
///
/// **Errors**
///
/// | code | when |
/// |---|---|
/// | `connect.refused`, `connect.unreachable`, `dns` | there is no connection |
/// | `offline` | the machine has no route to the host; or the host's name did not resolve, or the host was not reached, while no interface but loopback was up |
/// | `invalidRequest.credential`, `invalidRequest` | a proxy of the environment must not get the request, or cannot be used, see ``ProxyPolicy/environment`` |
/// | `tls.certificate` | nobody that is trusted has signed the server's certificate, or its time is not now |
/// | `tls.hostName` | the certificate is for another host |
/// | `tls.handshake` | any other failure of a handshake, also when the server ends the connection within it or wants another certificate of the client |
/// | `timeout.connect` | no connection was made within `configuration.timeout.connect` |
/// | `timeout.pool` | all connections to the host stayed busy for `configuration.timeout.connect`; nothing was sent |
/// | `timeout.head` | the header fields did not come within `readTimeout` or `headTimeout` |
/// | `timeout.idle` | no byte of the answer's body came for `readTimeout` |
/// | `timeout.write` | the server took no byte of the body for `writeTimeout` |
/// | `connectionLost` | the connection ended, without an answer or by a reset; also because a shared client was shut down |
/// | `truncated` | the body is shorter than it was announced to be, or TLS does not confirm the end of one without a length |
/// | `malformedResponse` | the answer is not HTTP, is a 101 that nobody asked for, or says more than once, or not in a number, how long it is; with HTTP/2 also header fields of more than 16 KiB that are compressed to less |
/// | `limit.headerBytes` | the header fields have more than 256 KiB, or 16 KiB with HTTP/2, whatever ``PipelineLimits/headerByteCount`` says |
/// | `limit.headerCount` | there are more than ``PipelineLimits/headerCount``, or more than 1,000 trailer fields, whatever that limit is |
/// | `limit.informational` | more than `informationalCount` answers of 100 to 199 came before an answer over HTTP/1.1 |
/// | `limit.bodyBytes` | the body of a `request` call is larger than ``PipelineLimits/bufferedBodyByteCount`` |
/// | `bodyChanged` | a body does not have the length that it announced |
/// | `invalidRequest.body` | a body with TRACE |
/// | `clientClosed` | the client was shut down |
///
/// Cancellation throws `CancellationError` at once; the exchange is closed behind it. What a streamed body to send throws is
/// thrown as it is. A failure of TLS comes before anything of the request is sent, save that with TLS 1.3 a server refuses a client's
/// certificate when the client may have begun; of a shared client a reset within a handshake, and with HTTP/2 that refusal, is
/// `connectionLost`.
///
/// **Secrets**: no error quotes a URL, a field or a body.
public final class AsyncHTTPClientTransport: Transport {
    private let routes: AsyncHTTPClientRoutes
    private let machine: Machine
    private let timekeeper: AsyncHTTPClientTimekeeper
    private let headTimeout: Duration?
    private let readTimeout: Duration?
    private let writeTimeout: Duration?
    /// How long the header fields may take after a body that is sent with the head, and after one in pieces.
    private let headLimits: (atOnce: TimeAmount?, inPieces: TimeAmount?)
    private let readLimit: TimeAmount?

    /// Makes a transport with a client of its own.
    ///
    /// - Parameters:
    ///   - configuration: how the client connects. Its settings for redirects and decompression are not used.
    ///   - connectionsPerHost: the most connections with HTTP/1.1 to a host, 1 and up; other requests wait. Over HTTP/2 one
    ///     connection carries many requests. `nil` for the number in the configuration.
    ///   - proxies: where proxies come from; `environment` with a proxy in the configuration stops the program.
    ///   - headTimeout: the longest from the moment an exchange has its connection to the header fields of its response, with the
    ///     sending of the body; `nil` for no limit of this kind.
    ///   - readTimeout: the longest without a byte of the answer; `nil` for no limit of this kind.
    ///   - writeTimeout: the longest in which the server takes no byte of the body; `nil` for no limit of this kind.
    public convenience init(
        configuration: HTTPClient.Configuration = makeDefaultConfiguration(),
        connectionsPerHost: Int? = nil,
        proxies: ProxyPolicy = .configuration,
        headTimeout: Duration? = nil,
        readTimeout: Duration? = .seconds(60),
        writeTimeout: Duration? = .seconds(60)
    ) {
        self.init(
            configuration: configuration,
            connectionsPerHost: connectionsPerHost,
            proxies: proxies,
            machine: .real,
            headTimeout: headTimeout,
            readTimeout: readTimeout,
            writeTimeout: writeTimeout
        )
    }

    /// The same, on a machine that a test may make.
    convenience init(
        configuration: HTTPClient.Configuration = makeDefaultConfiguration(),
        connectionsPerHost: Int? = nil,
        proxies: ProxyPolicy = .configuration,
        machine: Machine,
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
        let routes = AsyncHTTPClientRoutes(configuration, proxies, machine)
        self.init(routes, machine, headTimeout, readTimeout, writeTimeout)
    }

    /// Makes a transport that shares a client, which the caller shuts down.
    ///
    /// - Parameters:
    ///   - client: neither follows redirects nor decompresses; make it with ``makeDefaultConfiguration(informationalCount:)``. `HTTPClient.shared` does
    ///     both and stops the program here; an answer to which another client has followed a redirect is an error.
    ///   - headTimeout: as for a client of its own, but from the start of an exchange, with the wait for a connection.
    ///   - readTimeout: as for a client of its own, but for the header fields from the start of an exchange.
    ///   - writeTimeout: as for a client of its own.
    public convenience init(
        client: HTTPClient,
        headTimeout: Duration? = nil,
        readTimeout: Duration? = .seconds(60),
        writeTimeout: Duration? = .seconds(60)
    ) {
        precondition(client !== HTTPClient.shared, "HTTPClient.shared follows redirects and decompresses")
        self.init(AsyncHTTPClientRoutes(shared: client), .real, headTimeout, readTimeout, writeTimeout)
    }

    private init(
        _ routes: AsyncHTTPClientRoutes,
        _ machine: Machine,
        _ head: Duration?,
        _ read: Duration?,
        _ write: Duration?
    ) {
        for (name, timeout) in [("headTimeout", head), ("readTimeout", read), ("writeTimeout", write)] {
            if let timeout { precondition(timeout > .zero, "\(name) is \(timeout), not more than zero") }
        }
        self.routes = routes
        self.machine = machine
        timekeeper = AsyncHTTPClientTimekeeper([read, write])
        headTimeout = head
        readTimeout = read
        writeTimeout = write
        readLimit = read.map(TimeAmount.init)
        let inPieces = head.map(TimeAmount.init)
        headLimits = ([inPieces, readLimit].compactMap(\.self).min(), inPieces)
    }

    /// 10 s for connecting, 64 connections with HTTP/1.1 to a host (8 on Apple platforms), TLS 1.2 and up, no redirects, no
    /// decompression, no tracing, and one attempt at a connection for each exchange.
    ///
    /// - Parameter informationalCount: the most answers with a status of 100 to 199 before an answer over HTTP/1.1, 0 or more.
    /// - Returns: a configuration whose connections are guarded, also for a client that is shared.
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
            AsyncHTTPClientLease.defaultConnectionsPerHost
        configuration.tracing.tracer = nil
        AsyncHTTPClientConnections.prepare(&configuration, informationalLimit: informationalCount)
        return configuration
    }

    /// Bodies arrive as on the wire.
    public var decodesContent: Bool { false }

    /// `true` for a time from a second to a day.
    public func enforcesIdleTimeout(_ timeout: Duration) -> Bool {
        timeout >= .seconds(1) && timeout <= .seconds(86_400)
    }

    /// Sends a request.
    ///
    /// - Throws: as said above.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        try Task.checkCancellation()
        let client = try routes.client(for: request)
        guard client.exchanges != nil else { return try await send(request, context, client, nil, tryCount: 1) }
        context.reportConnectionWait()
        let isInPieces = AsyncHTTPClientUpload.isInPieces(request.body)
        let limit = headLimit(isInPieces: isInPieces)
        // The exchange, not the connection, limits the waits of a reader that may pause and of an upload in pieces.
        let own = context.options.idleTimeout ?? request.idleTimeout
        let idle = isInPieces || context.wantsStream ? nil : own.map(TimeAmount.init) ?? readLimit
        var tryCount = 1
        while true {
            let attempt = AsyncHTTPClientTry(context, headTimeout: limit, idleTimeout: idle)
            do {
                return try await send(request, context, client, attempt, tryCount: tryCount)
            } catch let error as PipelineError where error.code == .connectionLost {
                guard tryCount < Self.maximumTryCount, attempt.allowsAnother(request) else { throw error }
                tryCount += 1
            }
        }
    }

    /// How often a request is given a connection, when those before turned out to be dead.
    private static let maximumTryCount = 3

    private func send(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ client: AsyncHTTPClientLease,
        _ attempt: AsyncHTTPClientTry?,
        tryCount: Int
    ) async throws -> PipelineResponse {
        let watch = attempt?.idleTimeout == nil ? makeWatch(request, context) : nil
        let upload = AsyncHTTPClientUpload(request.body, context, client.client.eventLoopGroup, watch)
        do {
            var outgoing = upload.makeRequest(request.head)
            if tryCount > 1 { outgoing.tlsConfiguration = client.tlsConfiguration }
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
            let isHandshakeKnown = client.marksConnections && request.head.scheme == "https"
            let phase = AsyncHTTPClientErrorMapping.Phase.head(isHandshakeKnown: isHandshakeKnown)
            throw machine.explain(AsyncHTTPClientErrorMapping.pipelineError(for: error, phase, of: client), of: request)
        }
    }

    /// Sends, and waits for the header fields.
    ///
    /// The client's deadline is the only limit where the connection does not report. Where it does, the deadline leaves time for the
    /// longest wait and is met only if the request cannot be written.
    private func execute(
        _ request: HTTPClientRequest,
        _ upload: AsyncHTTPClientUpload,
        _ client: AsyncHTTPClientLease
    ) async throws -> HTTPClientResponse {
        let limit = headLimit(isInPieces: upload.isInPieces)
        let deadline = limit.map { .now() + client.connectTimeout + $0 } ?? .distantFuture
        guard upload.isInPieces, let watch = upload.watch else {
            return try await client.client.execute(request, deadline: deadline)
        }
        return try await watch.run { try await client.client.execute(request, deadline: deadline) }
    }

    /// Limits the waits of an exchange whose connection does not; `nil` if there is no limit.
    private func makeWatch(_ request: PipelineRequest, _ context: PipelineContext) -> AsyncHTTPClientWatch? {
        let idle = idleLimit(request, context)
        if AsyncHTTPClientUpload.isInPieces(request.body) {
            return AsyncHTTPClientWatch(timekeeper, head: readTimeout, idle: idle, write: writeTimeout)
        }
        return idle.map { AsyncHTTPClientWatch(timekeeper, head: nil, idle: $0, write: nil) }
    }

    /// How long the next bytes of the body may take; `nil` where the core measures an idle timeout of the call's own.
    private func idleLimit(_ request: PipelineRequest, _ context: PipelineContext) -> Duration? {
        guard let own = context.options.idleTimeout ?? request.idleTimeout else { return readTimeout }
        return context.wantsStream ? nil : own
    }

    /// How long the header fields may take; `readTimeout` counts from the end of a body in pieces.
    private func headLimit(isInPieces: Bool) -> TimeAmount? {
        isInPieces ? headLimits.inPieces : headLimits.atOnce
    }

    /// Closes all connections of a client of its own; calls under way and later ones fail with `clientClosed`.
    ///
    /// Does nothing when the client is shared, or was shut down before.
    ///
    /// - Throws: an error of NIO when a connection could not be closed.
    public func shutdown() async throws {
        try await routes.shutdown()
    }
}
#endif
