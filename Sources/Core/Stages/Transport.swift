/// The innermost part of a pipeline, which sends each request to the network or to a substitute for it.
///
/// A transport sends each request as it is. It does not follow redirects, validate or retry, and it leaves content
/// codings alone unless ``decodesContent`` is `true`.
public protocol Transport: Sendable {
    /// The name that `explain()` shows; defaults to the type's name.
    var name: String { get }

    /// Whether the transport decodes bodies from their content coding.
    ///
    /// If it has decoded a body, it removes Content-Encoding and Content-Length from the response, so that no plugin
    /// decodes it a second time.
    var decodesContent: Bool { get }

    /// The capabilities of the transport for the rules of ``Provider/explain()``; defaults to none.
    var capabilities: Set<PluginCapability> { get }

    /// Returns whether the transport ends an exchange if no byte of the body arrives within a given time.
    ///
    /// The core calls this for a call with ``RequestOptions/idleTimeout`` whose caller does not read the body as a
    /// stream, if the provider's clock is the system's. If the transport returns `true`, the timeout does not set
    /// ``PipelineContext/wantsStream``. While the transport buffers a body, it must then fail with
    /// ``PipelineError/Code-swift.struct/timeout(_:)`` and `.idle` if the next byte takes longer than
    /// `context.options.idleTimeout ?? request.idleTimeout`. In all other cases, and for every stream, the core
    /// measures the time. Defaults to `false`.
    ///
    /// - Parameter timeout: the longest time to wait for the next byte of a body.
    /// - Returns: whether the transport enforces the timeout.
    func enforcesIdleTimeout(_ timeout: Duration) -> Bool

    /// The settings that the transport was given and cannot apply; `explain()` shows them as findings.
    ///
    /// A request that needs such a setting fails with its code, and nothing is sent. Defaults to none.
    var unsupportedSettings: [UnsupportedSetting] { get }

    /// Returns the identity on whose behalf the transport sends a request, in addition to what the request contains;
    /// `nil` if there is none.
    ///
    /// Calls with different identities do not share a response, see ``PipelineContext/identities``. A transport that
    /// presents a client certificate returns a text that differs for each certificate. A transport around another one
    /// returns what that one returns. The core calls this for each request and each redirect. Defaults to `nil`.
    func identity(for request: PipelineRequest) -> String?

    /// Sends a request and returns its response.
    ///
    /// The body of the response may be a stream, and must be one if ``PipelineContext/wantsStream`` is `true`, unless
    /// it is already in memory. If the
    /// caller expects the body in memory, the core buffers the stream, up to
    /// ``ProviderConfiguration/Limits/bufferedBodyByteCount``. The body of a redirect (a status from 300 to 399 except
    /// 304) must be a stream, unless it is already in memory. The core follows the redirect without reading that body
    /// to its end, see ``PipelineResponse/discardBody(_:within:)``. Dropping a body that was not read to its end closes
    /// the exchange.
    ///
    /// A transport reports how much of the request's body has been sent with
    /// ``PipelineContext/TransportReport/sent(_:)``. If it knows when the exchange gets a connection, it reports the
    /// wait with ``PipelineContext/TransportReport/connectionAwaited`` and
    /// ``PipelineContext/TransportReport/connection(_:at:)``. The wait then does not count as part of the attempt.
    ///
    /// - Throws: ``PipelineError`` with the code of the failure; `CancellationError` as soon as the task is cancelled.
    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse
}

extension Transport {
    /// The default name, which is that of the transport's type.
    public var name: String { "\(Self.self)" }

    /// Returns an empty set: no rule applies to the transport.
    public var capabilities: Set<PluginCapability> { [] }

    /// Returns an empty array: the transport applies all its settings.
    public var unsupportedSettings: [UnsupportedSetting] { [] }

    /// Returns `nil`: the transport adds no identity.
    public func identity(for request: PipelineRequest) -> String? { nil }

    /// Returns `false`: the core measures the time.
    public func enforcesIdleTimeout(_ timeout: Duration) -> Bool { false }
}
