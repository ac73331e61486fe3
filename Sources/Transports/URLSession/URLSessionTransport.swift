import HTTPTypes
public import PipelineCore

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A transport that uses Foundation's `URLSession`.
///
/// It follows no redirects, handles no authentication challenges other than those of TLS, stores no cookies and caches
/// nothing. On Apple platforms, the system handles the challenges of proxies. The transport sends what plugins saw. For
/// a call made with `request`, the body is returned as bytes; for one made with `stream`, as a stream. Dropping that
/// stream closes the exchange.
///
/// **Effects**
///
/// - Foundation decodes content codings. Content-Encoding and Content-Length are then removed from the response, except
///   from a response without a body (HEAD, 204, 304).
/// - Foundation adds Accept, Accept-Language, User-Agent, Connection and, on Apple platforms, Accept-Encoding if the
///   request does not have them. It always sets Host and Content-Length; these two fields in the request are ignored.
/// - On Linux, Foundation takes half of a compressed body for whole. The transport therefore sends `Accept-Encoding:
///   identity` unless the request has that field. A request whose field names a coding gets the annotation
///   `requestedCoding`. A compressed response is returned, gets the annotation `unverifiedCoding`, is not stored by a
///   cache, and does not resume a download.
/// - A request with Range never asks for a coding, because Foundation would decode a part of a coded body.
/// - Request fields are sent in no particular order. Fields of the same name are joined by a comma.
/// - Response fields are sorted by name, because Foundation does not preserve their order. Fields of the same name are
///   joined by a comma, except Set-Cookie, which is split again. The platform may change the case of a name.
/// - A streamed body is first read to its end: up to 1 MiB into memory, more into a temporary file of mode 0600 that is
///   removed after the exchange.
/// - For a download, or a response that is watched, unread bytes wait in memory up to `unreadByteCount`, and then in a
///   temporary file of mode 0600.
/// - A GET or HEAD request is sent without a body. If it has bytes, it fails.
/// - On Apple platforms, each rule of `trust` has a session of its own, so that no connection serves hosts of different
///   rules.
/// - TLS, connection limits and proxies are configured by `configuration`, except for proxies on Linux. There, libcurl
///   uses the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, whatever the configuration
///   is. If such a proxy applies, a request over http to a loopback address fails if it carries a credential (a secret
///   header field, or a query item whose name sounds secret). A credential that may go only to a loopback address
///   therefore never reaches a proxy.
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
/// | `connect.refused`, `connect.unreachable`, `dns` | the connection cannot be opened |
/// | `offline` | the machine has no network; on Linux, the host name did not resolve, or the host was not reached, while no interface but loopback was up |
/// | `tls.certificate`, `tls.hostName`, `tls.handshake` | TLS failed; `tls.handshake` if the platform does not report the cause |
/// | `tls.pin` | the server's key is not pinned, or a pinned host was requested over http, see ``TrustPolicy`` |
/// | `unsupported.pinning`, `unsupported.authorities`, `unsupported.clientIdentity` | on Linux, the host has a rule or an identity that needs this, see ``TrustPolicy`` and ``ClientIdentities``; nothing is sent |
/// | `unsupported.minimumTLSVersion` | the rule of the host has a minimum version of TLS; nothing is sent |
/// | `proxy.authentication`, `proxy.refused` | on Apple platforms, the proxy accepted no credential, or opened no connection |
/// | `file.unreadable` | the file to send cannot be read |
/// | `file.noSpace`, `file.notWritable` | a streamed body does not fit on the disk or cannot be written |
/// | `bodyChanged` | a streamed body does not have its announced length, or, on Linux, a file became shorter while it was sent |
/// | `timeout.head` | no byte of a response arrived within the configuration's `timeoutIntervalForRequest`, which includes connecting |
/// | `timeout.write` | the server accepted no byte of the body within that time |
/// | `timeout.idle` | no byte of the response's body, or on Linux of a redirect's body, arrived within that time |
/// | `connectionLost` | the connection ended without a response or was reset |
/// | `truncated` | the body is shorter than announced |
/// | `malformedResponse` | the response is not HTTP, or its Content-Length is not one number |
/// | `limit.headerBytes` | the header fields are larger than Foundation accepts |
/// | `contentCoding` | the body cannot be decoded |
/// | `limit.bodyBytes` | the body of a `request` call is larger than ``ProviderConfiguration/Limits/bufferedBodyByteCount``, or a streamed body to send larger than `spooledByteCount` |
/// | `limit.unreadBytes` | the caller that reads a stream is too far behind |
/// | `invalidRequest.path`, `invalidRequest.body` | Foundation cannot send the path or the body |
/// | `invalidRequest.credential` | on Linux, a proxy variable applies to a request over http to a loopback address with a credential |
///
/// Cancellation throws `CancellationError` at once and then closes the exchange.
///
/// **Secrets**: no error quotes a URL, a field or a body; `underlyingError` is Foundation's error without the URL.
///
/// **On Linux**, Foundation has bugs that cannot be worked around. Prefer another transport there for servers that you
/// do not trust.
///
/// - The process stops if a connection ends within the header fields, if a response has trailer fields (also over
///   HTTP/2), or if a Content-Length is near the largest `Int64`.
/// - A redirect is held in memory until its body has ended; only the timeout of the attempt limits it. If it has no
///   usable Location, its body is lost (`truncated`).
/// - The body of a redirect, decoded, is copied for each piece that arrives: 20 MiB take about 20 s of processor time,
///   also if they are 20 KB of gzip. Meanwhile, no session of the process sends or receives anything, not even to other
///   hosts, because all of them share one queue. A timeout ends the call at once, but not this work.
/// - A compressed body that ends early looks complete, if the request asks for a coding or the server compresses
///   nevertheless. So does a body without a length if the connection ends without confirmation by TLS.
/// - A field value that is not UTF-8, or a status line without a space after the code, is `malformedResponse`.
/// - If a reused connection is lost before any byte of a response, the request is resent up to five times, even a POST.
/// - Bytes that a server sends on an idle connection are taken for the next response.
/// - `timeoutIntervalForRequest` counts whole seconds; less than one second counts as zero.
/// - Back-pressure is not possible, because suspending a task makes Foundation start it again. Bytes that arrive faster
///   than they can be delivered wait in Foundation's own memory without a limit, also for a download.
/// - The trusted authorities are those of the system's bundle. The lowest version of TLS is that of the machine's
///   OpenSSL, which may accept TLS 1.0 and 1.1: set `MinProtocol = TLSv1.2` in its configuration (`openssl.cnf`).
/// - A file to send is read on the session's own thread. A stalled disk delays the other exchanges of this transport.
/// - A reset during a handshake is `connectionLost`.
/// - With HTTP/2, header fields of more than 64 KiB may end in `timeout.idle`.
public final class URLSessionTransport: Transport {
    private let general: URLSessionOwner
    private let ruled: HostRules<URLSessionOwner>
    private let unreadByteCount: Int
    private let spooledByteCount: Int
    private let machine: Machine
    private let trust: URLSessionTrust?

    /// Creates a transport with its own session.
    ///
    /// - Parameters:
    ///   - configuration: how the session connects; it is copied. It must not be one for the background.
    ///   - unreadByteCount: the most bytes of a stream that may wait to be read.
    ///   - spooledByteCount: the most bytes of a streamed body that may be read before it is sent.
    ///   - trust: the authorities and pins by host; defaults to those of the system for all hosts.
    ///   - identities: the client certificates by host; defaults to none.
    public convenience init(
        configuration: URLSessionConfiguration = makeDefaultConfiguration(),
        unreadByteCount: Int = 16 << 20,
        spooledByteCount: Int = Int(clamping: Int64(16) << 30),
        trust: TrustPolicy = .system,
        identities: ClientIdentities? = nil
    ) {
        self.init(
            configuration: configuration,
            unreadByteCount: unreadByteCount,
            spooledByteCount: spooledByteCount,
            trust: trust,
            identities: identities,
            machine: .real
        )
    }

    /// Creates the same transport for a machine and a delegate that a test provides.
    init(
        configuration: URLSessionConfiguration = makeDefaultConfiguration(),
        unreadByteCount: Int = 16 << 20,
        spooledByteCount: Int = Int(clamping: Int64(16) << 30),
        trust: TrustPolicy = .system,
        identities: ClientIdentities? = nil,
        machine: Machine,
        delegate: URLSessionExchanges = URLSessionExchanges()
    ) {
        precondition(unreadByteCount > 0, "unreadByteCount is \(unreadByteCount), not 1 or more")
        precondition(spooledByteCount >= 0, "spooledByteCount is \(spooledByteCount), not 0 or more")
        #if !canImport(FoundationNetworking)
        precondition(configuration.identifier == nil, "a background session follows redirects on its own")
        #endif
        self.unreadByteCount = unreadByteCount
        self.spooledByteCount = spooledByteCount
        self.machine = machine
        self.trust = URLSessionTrust(trust, identities)
        general = URLSessionOwner(configuration, delegate)
        #if canImport(FoundationNetworking)
        ruled = HostRules([:])
        #else
        ruled = HostRules(trust.rules.mapValues { _ in URLSessionOwner(configuration, URLSessionExchanges()) })
        #endif
    }

    deinit {
        for owner in [general] + ruled.values { owner.session.finishTasksAndInvalidate() }
    }

    /// The delegate of the session for hosts without a rule.
    var delegate: URLSessionExchanges { general.exchanges }

    /// Returns an ephemeral configuration without cookies, cache and stored credentials.
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

    /// The trust rules and client identities that this transport cannot apply on this platform.
    public var unsupportedSettings: [UnsupportedSetting] { trust?.unsupportedSettings ?? [] }

    #if canImport(FoundationNetworking)
    /// `PluginCapability.leavesTLSVersion`: Foundation on Linux sets no lowest version.
    public var capabilities: Set<PluginCapability> { [.leavesTLSVersion] }
    #endif

    /// `true`: Foundation always decodes content codings.
    public var decodesContent: Bool { true }

    /// The client identity for the host of a request over https.
    public func identity(for request: PipelineRequest) -> String? { trust?.identities?.name(for: request) }

    /// Sends a request and returns its response.
    ///
    /// - Throws: the errors listed for the type.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        try Task.checkCancellation()
        // In case a transport around this one does not say so.
        if let identity = identity(for: request) { context.addIdentity(identity) }
        try trust?.check(request)
        #if canImport(FoundationNetworking)
        if let failure = ProxyVariables.failure(of: request, machine.proxyVariables) { throw failure }
        if URLSessionResponseHead.asksForCoding(in: request.headers[.acceptEncoding]), !request.headers.contains(.range)
        {
            context.report(.event("requestedCoding", of: name))
        }
        #endif
        let request = Self.askingForCoding(request)
        let upload = try await URLSessionUpload(request, limit: spooledByteCount)
        let owner = ruled.isEmpty ? general : ruled.value(for: request.ruleHost) ?? general
        let exchange = URLSessionExchange(
            request: request,
            isStreaming: context.wantsStream,
            byteLimit: context.wantsStream ? unreadByteCount : context.limits.bufferedBodyByteCount,
            // A body that the pipeline reads itself must not fail because the network was faster.
            spills: context.wantsStream && !context.isStreaming,
            upload: upload,
            owner: owner.exchanges,
            trust: trust,
            context: context
        )
        owner.exchanges.start(exchange) { [session = owner.session] in upload.makeTask(in: session) }
        do {
            let response = try await exchange.response()
            #if canImport(FoundationNetworking)
            if exchange.isCoded {
                context.report(.unverifiedContent)
                context.report(.event("unverifiedCoding", of: name))
            }
            #endif
            return response
        } catch {
            throw machine.explain(error, of: request)
        }
    }

    /// Returns the request with `Accept-Encoding: identity` if Foundation must not ask for a coding.
    private static func askingForCoding(_ request: PipelineRequest) -> PipelineRequest {
        #if canImport(FoundationNetworking)
        let isSafe = request.headers.contains(.acceptEncoding)
        #else
        let isSafe = true
        #endif
        guard !isSafe || request.headers.contains(.range) else { return request }
        var request = request
        request.headers[.acceptEncoding] = "identity"
        return request
    }
}
