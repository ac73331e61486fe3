#if AsyncHTTPClient
public import AsyncHTTPClient
import HTTPTypes
import NIOCore
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
///   a stream of unknown length) are AsyncHTTPClient's, fields of these names in the request are left out. Nothing else is added.
/// - Response fields keep their order, their case (HTTP/2 has lower case only) and repeats, Set-Cookie too.
/// - For a call made with `request` the body is read into memory up to ``PipelineLimits/bufferedBodyByteCount``; otherwise it is a
///   stream, and a reader that pauses makes the server wait. Dropping the stream closes the exchange.
/// - A streamed body is sent as it is made: the next piece is asked for when the network has taken the one before. When the exchange
///   ends before the body does, its reading is cancelled.
/// - Connections, TLS, proxies and the pool are those of the configuration; environment variables change nothing. It writes no
///   log and makes no spans of its own.
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
/// | `configuration.timeout.connect` | 10 s, with the wait for a connection of the pool and the handshake of TLS | | |
/// | `configuration.timeout.read` | 60 s without a byte of the answer, once the request is sent | | |
/// | `configuration.timeout.write` | 60 s in which the server takes no byte of the body | | |
/// | `configuration.connectionPool` | 8 connections to a host with HTTP/1.1, idle ones kept 60 s | | |
/// | `informationalCount` | 100, set with ``makeDefaultConfiguration(informationalCount:)`` | answers of 100 to 199 | 0 and up |
/// | `headTimeout` | none | time from the start of an exchange to the header fields of its answer | more than zero |
///
/// **Errors**
///
/// | code | when |
/// |---|---|
/// | `connect.refused`, `connect.unreachable`, `dns` | there is no connection |
/// | `tls.certificate`, `tls.hostName`, `tls.handshake` | TLS failed; nothing was sent |
/// | `timeout.connect` | no connection came within `timeout.connect` |
/// | `timeout.head` | the header fields did not come within `timeout.read` or `headTimeout` |
/// | `timeout.idle` | the body went without a byte for `timeout.read` |
/// | `timeout.write` | the server took no byte of the body for `timeout.write` |
/// | `connectionLost` | the connection ended, without an answer or by a reset |
/// | `truncated` | the body is shorter than it was announced to be |
/// | `malformedResponse` | the answer is not HTTP, is a 101 that nobody asked for, or says more than once, or not in a number, how long it is |
/// | `limit.headerBytes` | the header fields have more than 256 KiB, whatever ``PipelineLimits/headerByteCount`` says |
/// | `limit.headerCount` | there are more than ``PipelineLimits/headerCount`` |
/// | `limit.informational` | more than `informationalCount` answers of 100 to 199 came before an answer over HTTP/1.1 |
/// | `limit.bodyBytes` | the body of a `request` call is larger than ``PipelineLimits/bufferedBodyByteCount`` |
/// | `bodyChanged` | a body does not have the length that it announced |
/// | `invalidRequest.body` | a body with TRACE |
/// | `clientClosed` | the client was shut down |
///
/// Cancellation throws `CancellationError` at once; the exchange is closed behind it. What a streamed body to send throws is
/// thrown as it is.
///
/// **Secrets**: no error quotes a URL, a field or a body.
public final class AsyncHTTPClientTransport: Transport {
    private let client: AsyncHTTPClientLease
    private let headTimeout: TimeAmount?

    /// Makes a transport with a client of its own.
    ///
    /// - Parameters:
    ///   - configuration: how the client connects. Its settings for redirects and decompression are not used.
    ///   - headTimeout: the longest from the start of an exchange, with the wait for a connection and the sending of the body,
    ///     to the header fields of its answer; `nil` for no limit of this kind.
    public convenience init(
        configuration: HTTPClient.Configuration = makeDefaultConfiguration(),
        headTimeout: Duration? = nil
    ) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        AsyncHTTPClientGuard.install(in: &configuration, informationalLimit: 100)
        let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        self.init(AsyncHTTPClientLease(client, endsClient: true), headTimeout)
    }

    /// Makes a transport that shares a client, which the caller shuts down.
    ///
    /// - Parameters:
    ///   - client: neither follows redirects nor decompresses; make it with ``makeDefaultConfiguration(informationalCount:)``. `HTTPClient.shared` does
    ///     both and stops the program here; an answer to which another client has followed a redirect is an error.
    ///   - headTimeout: as for a client of its own.
    public convenience init(client: HTTPClient, headTimeout: Duration? = nil) {
        precondition(client !== HTTPClient.shared, "HTTPClient.shared follows redirects and decompresses")
        self.init(AsyncHTTPClientLease(client, endsClient: false), headTimeout)
    }

    private init(_ client: AsyncHTTPClientLease, _ headTimeout: Duration?) {
        if let headTimeout { precondition(headTimeout > .zero, "headTimeout is \(headTimeout), not more than zero") }
        self.client = client
        self.headTimeout = headTimeout.map { TimeAmount($0) }
    }

    /// Timeouts of 10 s for connecting and 60 s for reading and writing, no redirects, no decompression, no tracing, and one attempt
    /// at a connection for each exchange.
    ///
    /// - Parameter informationalCount: the most answers with a status of 100 to 199 before an answer over HTTP/1.1, 0 or more.
    /// - Returns: a configuration whose connections are guarded, also for a client that is shared.
    public static func makeDefaultConfiguration(
        informationalCount: Int = 100
    ) -> HTTPClient.Configuration {
        precondition(informationalCount >= 0, "informationalCount is \(informationalCount), not 0 or more")
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(10), read: .seconds(60), write: .seconds(60)),
            decompression: .disabled
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.tracing.tracer = nil
        AsyncHTTPClientGuard.install(in: &configuration, informationalLimit: informationalCount)
        return configuration
    }

    /// Bodies arrive as on the wire.
    public var decodesContent: Bool { false }

    /// Sends a request.
    ///
    /// - Throws: as said above.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        try Task.checkCancellation()
        let upload = AsyncHTTPClientUpload(request, context)
        do {
            let deadline = headTimeout.map { NIODeadline.now() + $0 } ?? .distantFuture
            let response = try await client.client.execute(upload.makeRequest(), deadline: deadline)
            let body = AsyncHTTPClientBody(response.body, upload, client)
            guard response.history.count <= 1 else {
                throw PipelineError(.transport, "the shared HTTPClient follows redirects, which the pipeline has to do")
            }
            let head = try AsyncHTTPClientHead.makeHead(response, context.limits)
            guard !context.wantsStream else {
                let byteCount = AsyncHTTPClientHead.byteCount(of: head, to: request.method)
                return PipelineResponse(request: request, head: head, body: .stream(body, byteCount: byteCount))
            }
            let data = try await body.collect(upTo: context.limits.bufferedBodyByteCount, of: head)
            return PipelineResponse(request: request, head: head, body: .bytes(data))
        } catch {
            upload.end()
            throw AsyncHTTPClientErrorMapping.pipelineError(for: error, .head)
        }
    }

    /// Closes all connections of a client of its own; calls under way and later ones fail with `clientClosed`.
    ///
    /// Does nothing when the client is shared, or was shut down before.
    ///
    /// - Throws: an error of NIO when a connection could not be closed.
    public func shutdown() async throws {
        try await client.shutdown()
    }
}
#endif
