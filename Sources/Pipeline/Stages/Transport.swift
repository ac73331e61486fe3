/// What a pipeline ends in: hands a request to the network, or to something that stands for it.
///
/// A transport sends what it is given: it does not follow redirects, does not validate, does not retry, and leaves content
/// codings alone or says that it does not.
public protocol Transport: Sendable {
    /// The name in `explain()`; by default the type's name.
    var name: String { get }

    /// Whether bodies arrive decoded from their content coding. Where it has decoded one, it removes Content-Encoding and
    /// Content-Length from the response, so that nothing is decoded twice.
    var decodesContent: Bool { get }

    /// Returns whether the transport ends an exchange if no byte of the body arrives within a time.
    ///
    /// The core asks this for a call with ``RequestOptions/idleTimeout`` whose caller does not read the body as a stream, if
    /// the provider's clock is the system's. If the transport returns `true`, ``PipelineContext/wantsStream`` stays `false`, and
    /// the transport must fail with ``PipelineError/Code-swift.struct/timeout(_:)`` and `.idle` when it waits for the next byte of a
    /// body that it buffers for longer than `context.options.idleTimeout ?? request.idleTimeout`. Otherwise, and for every stream,
    /// the core measures the time. Defaults to `false`.
    ///
    /// - Parameter timeout: the longest wait for the next byte of a body.
    /// - Returns: whether the transport measures the time.
    func enforcesIdleTimeout(_ timeout: Duration) -> Bool

    /// Sends a request and returns its response.
    ///
    /// The body of the response may be a stream, and is one when ``PipelineContext/wantsStream`` says so; the core buffers it under
    /// ``PipelineLimits/bufferedBodyByteCount`` where it is to be in memory. The body of a redirect (a status from 300 to 399 except 304)
    /// is always handed over as a stream, unless it is in memory already: the core follows the redirect without reading it to its
    /// end, see ``PipelineResponse/discardBody(_:within:)``. Dropping a body that was not read to its end closes
    /// the exchange. A transport reports how much of the request's body has been sent with ``PipelineContext/reportSent(_:)``. If it
    /// knows when the exchange gets a connection, it reports the wait with ``PipelineContext/reportConnectionWait()`` and
    /// ``PipelineContext/reportConnection()``, so that the wait does not count as part of the attempt.
    ///
    /// - Throws: ``PipelineError`` with the code of what went wrong; `CancellationError` as soon as the task is cancelled.
    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse
}

extension Transport {
    /// The type's name.
    public var name: String { "\(Self.self)" }

    /// The core measures the time.
    public func enforcesIdleTimeout(_ timeout: Duration) -> Bool { false }
}
