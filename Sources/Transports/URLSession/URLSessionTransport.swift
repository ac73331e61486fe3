import HTTPTypes
public import Pipeline

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sends requests with Foundation's `URLSession`.
///
/// It follows no redirects, answers no authentication challenge but those of TLS, keeps no cookies and caches nothing: what
/// plugins saw is what is sent. For a call made with `request` the body comes back as bytes, for one made with `stream` as a
/// stream; dropping that stream closes the exchange.
///
/// **Effects**
///
/// - Content codings are decoded by Foundation; Content-Encoding and Content-Length are then removed from the response, save
///   where there is no body (HEAD, 204, 304).
/// - Foundation adds Accept, Accept-Encoding, Accept-Language, User-Agent and Connection where the request has none of that
///   name, and always Host and Content-Length; fields of these two names in the request are left out.
/// - Request fields go out in no particular order; those of one name are joined by a comma.
/// - Response fields are sorted by name, for Foundation hands them over without an order. Those of one name arrive joined by a
///   comma; Set-Cookie is taken apart again. The platform may change the case of a name.
/// - A body that is a stream is first read to its end: up to 1 MiB into memory, more into a temporary file of mode 0600 that is
///   removed after the exchange.
/// - Of a download, or an answer that is watched, bytes that come faster than they are taken wait in memory up to `unreadByteCount`,
///   and then in a temporary file of mode 0600.
/// - A request with GET or HEAD is sent without a body; one that has bytes is refused.
/// - TLS and connection limits are those of the configuration, and so are proxies, except on Linux. There libcurl obeys `http_proxy`,
///   `https_proxy`, `all_proxy` and `no_proxy` of the environment, whatever the configuration says. A request over http to a loopback
///   address that carries a credential (a secret header field, or a query item whose name sounds secret) fails where such a proxy
///   applies to it: no credential that may go only to a loopback address reaches a proxy.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `configuration` | ``makeDefaultConfiguration()`` | | |
/// | `unreadByteCount` | 16,777,216 (16 MiB) | bytes | 1 and up |
/// | `spooledByteCount` | 17,179,869,184 (16 GiB) | bytes | 0 and up |
///
/// **Errors**
///
/// | code | when |
/// |---|---|
/// | `connect.refused`, `connect.unreachable`, `dns` | there is no connection |
/// | `offline` | the machine has no network; on Linux, the host's name did not resolve, or the host was not reached, while no interface but loopback was up |
/// | `tls.certificate`, `tls.hostName`, `tls.handshake` | TLS failed; `tls` alone where the platform does not say how |
/// | `file.unreadable` | the file to send cannot be read |
/// | `file.noSpace`, `file.notWritable` | there is no room for a streamed body |
/// | `bodyChanged` | a streamed body does not have the length that it announced, or, on Linux, a file became shorter while it was sent |
/// | `timeout.head` | the configuration's `timeoutIntervalForRequest` has passed without a byte of an answer; connecting counts |
/// | `timeout.write` | it has passed while the server took nothing of the body |
/// | `timeout.idle` | it has passed without a byte of the answer's body |
/// | `connectionLost` | the connection ended, without an answer or by a reset |
/// | `truncated` | the body is shorter than it was announced to be |
/// | `malformedResponse` | the answer is not HTTP, or its Content-Length is not one number |
/// | `limit.headerBytes` | the header fields are larger than Foundation accepts |
/// | `contentCoding` | the body does not decode |
/// | `limit.bodyBytes` | the body of a `request` call is larger than ``PipelineLimits/bufferedBodyByteCount``, or a streamed body to send larger than `spooledByteCount` |
/// | `limit.unreadBytes` | the caller who reads a stream is too far behind |
/// | `invalidRequest.path`, `invalidRequest.body` | Foundation cannot send it |
/// | `invalidRequest.credential` | on Linux, a proxy variable applies to a request over http to a loopback address with a credential |
///
/// Cancellation throws `CancellationError` at once; the exchange is closed behind it.
///
/// **Secrets**: no error quotes a URL, a field or a body; `underlyingError` is Foundation's error without the URL.
///
/// **On Linux** Foundation has bugs that cannot be worked around. Prefer another transport there for servers that you do not
/// trust: a connection that ends within the header fields, or a chunked body with trailer fields, stops the process; a redirect
/// is held in memory until its body has ended, so that only the timeout of the attempt bounds it, and the body is lost (`truncated`)
/// when there is no usable Location; a compressed body that ends early looks complete; a field value that is not UTF-8, or a status line without a space after
/// the code, is `malformedResponse`. A request that dies on a reused connection before any byte of an answer is sent again, up to
/// five times, POST too. What a server sends on an idle connection is taken for the next answer, a Content-Length near the largest
/// `Int64` stops the process. `timeoutIntervalForRequest` counts whole seconds, and less than one is no time at all. There is no
/// back-pressure: suspending a task makes Foundation start it again, and what arrives faster than it can be handed over waits in
/// Foundation's own memory without a bound, that of a download too. The authorities that are trusted are those of the system's
/// bundle; a file to send is read on the session's own thread, so that a disk that has stalled holds up the other exchanges of
/// this transport, too; a reset within a handshake is `connectionLost`; a body without a length that is cut by an end of the connection which TLS
/// does not confirm looks complete; and with HTTP/2 header fields of more than 64 KiB may end in `timeout.idle`.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    let delegate: URLSessionExchanges
    private let unreadByteCount: Int
    private let spooledByteCount: Int
    private let machine: Machine

    /// Makes a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: how the session connects; it is copied.
    ///   - unreadByteCount: the most bytes of a stream that may wait for their reader.
    ///   - spooledByteCount: the most bytes of a streamed body that may be read before it is sent.
    public convenience init(
        configuration: URLSessionConfiguration = makeDefaultConfiguration(),
        unreadByteCount: Int = 16 << 20,
        spooledByteCount: Int = Int(clamping: Int64(16) << 30)
    ) {
        self.init(
            configuration: configuration,
            unreadByteCount: unreadByteCount,
            spooledByteCount: spooledByteCount,
            machine: .real
        )
    }

    /// Makes the same transport for a machine and a delegate that a test provides.
    init(
        configuration: URLSessionConfiguration = makeDefaultConfiguration(),
        unreadByteCount: Int = 16 << 20,
        spooledByteCount: Int = Int(clamping: Int64(16) << 30),
        machine: Machine,
        delegate: URLSessionExchanges = URLSessionExchanges()
    ) {
        precondition(unreadByteCount > 0, "unreadByteCount is \(unreadByteCount), not 1 or more")
        precondition(spooledByteCount >= 0, "spooledByteCount is \(spooledByteCount), not 0 or more")
        self.unreadByteCount = unreadByteCount
        self.spooledByteCount = spooledByteCount
        self.machine = machine
        self.delegate = delegate
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegate.queue)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// An ephemeral configuration without cookies, cache and stored credentials.
    public static func makeDefaultConfiguration() -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        return configuration
    }

    /// Foundation decodes content codings, asked or not.
    public var decodesContent: Bool { true }

    /// Sends a request.
    ///
    /// - Throws: as said above.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        try Task.checkCancellation()
        #if canImport(FoundationNetworking)
        if let failure = ProxyVariables.failure(of: request, machine.proxyVariables) { throw failure }
        #endif
        let upload = try await URLSessionUpload(request, limit: spooledByteCount)
        let exchange = URLSessionExchange(
            request: request,
            isStreaming: context.wantsStream,
            byteLimit: context.wantsStream ? unreadByteCount : context.limits.bufferedBodyByteCount,
            // What the pipeline reads itself must not fail because the network was faster.
            spills: context.wantsStream && !context.isStreaming,
            upload: upload,
            owner: delegate
        ) { context.reportSent($0) }
        delegate.start(exchange) { [session] in upload.makeTask(in: session) }
        do {
            return try await exchange.response()
        } catch {
            throw machine.explain(error, of: request)
        }
    }
}
