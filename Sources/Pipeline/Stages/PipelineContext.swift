/// What a plugin knows of the call that it takes part in.
public struct PipelineContext: Sendable {
    /// Where the call is, if that is not its first exchange.
    private struct Progress: Sendable {
        var pass: Pass?
        var attempt = 1
        var hop = 0
        var hasLeftOrigin = false
        var hopEntry: PipelineRequest?
        var exchangeNumber = 0
        var isIdleTimed = false
        var attemptTimer: AttemptTimer?
    }

    @usableFromInline let call: CallState
    /// `nil` for the values that a context begins with: two references are copied at each step of a call, and most calls need no more.
    private var changed: CopyOnWrite<Progress>?

    /// Which attempt this is, from 1: an interceptor that calls `next` again begins a new one.
    public var attempt: Int { changed?.value.attempt ?? 1 }

    /// How many redirects were followed to come here, 0 outside exchanges.
    public var hop: Int { changed?.value.hop ?? 0 }

    /// Whether a redirect of this chain has led to another origin: scheme, host or port.
    ///
    /// From then on, credentials and secret fields of the request have been dropped, also when a later redirect leads back. An exchange
    /// plugin adds none either, unless its user has allowed that.
    public var hasLeftOrigin: Bool { changed?.value.hasLeftOrigin ?? false }

    /// The request that entered the hop, if there are exchange plugins.
    var hopEntry: PipelineRequest? {
        get { changed?.value.hopEntry }
        set { progress.hopEntry = newValue }
    }

    /// Which exchange of the hop this is, from 0.
    var exchangeNumber: Int {
        get { changed?.value.exchangeNumber ?? 0 }
        set { progress.exchangeNumber = newValue }
    }

    /// Whether the core measures the time between the bytes of the body.
    var isIdleTimed: Bool {
        get { changed?.value.isIdleTimed ?? false }
        set { progress.isIdleTimed = newValue }
    }

    /// Of the exchange, if its time is limited.
    var attemptTimer: AttemptTimer? {
        get { changed?.value.attemptTimer }
        set { progress.attemptTimer = newValue }
    }

    private var pass: Pass? { changed?.value.pass }

    private var progress: Progress {
        get { changed?.value ?? Progress() }
        set { changed = CopyOnWrite(newValue) }
    }

    init(call: CallState) {
        self.call = call
    }

    /// Makes the context of a call that begins on the hop of another.
    init(call: CallState, onHopOf parent: PipelineContext) {
        self.call = call
        guard parent.hop > 0 || parent.hasLeftOrigin else { return }
        progress.hop = parent.hop
        progress.hasLeftOrigin = parent.hasLeftOrigin
    }

    /// Follows a redirect to its hop.
    mutating func beginHop(leavingOrigin: Bool) {
        progress.hop += 1
        progress.exchangeNumber = 0
        if leavingOrigin { progress.hasLeftOrigin = true }
    }

    func beginNext(of interceptor: Int) -> InterceptorMarks.Beginning {
        if let pass { return pass.marks.begin(interceptor) }
        return call.marks.begin(interceptor)
    }

    func endInterceptor(_ interceptor: Int) {
        if let pass { return pass.marks.end(interceptor) }
        call.marks.end(interceptor)
    }

    /// The context of the same call sent on once more.
    ///
    /// - Throws: ``PipelineError`` with code `limit.exchanges` when the call has begun all the attempts it may.
    func makeNextAttempt() throws -> PipelineContext {
        var copy = self
        copy.progress.pass = Pass()
        copy.progress.attempt = call.beginAttempt()
        guard copy.attempt <= limits.exchangeCount else { throw PipelineError.tooManyExchanges(self) }
        return copy
    }

    /// The number of the call, unique for its provider, from 1.
    public var callID: Int { call.id }

    /// The target of the call; a ``MultiTarget`` is unwrapped.
    public var target: any TargetType { call.target }

    /// The endpoint that the target became.
    public var endpoint: Endpoint {
        _read { yield call.endpoint }
    }

    /// The options of the call over those of the target.
    public var options: RequestOptions {
        _read { yield call.options }
    }

    /// When the call began, on ``clock``.
    public var start: PipelineClock.Instant { call.start }

    /// The provider's clock: the only source of time.
    public var clock: PipelineClock { call.settings.clock }

    /// The present moment on ``clock``, read without copying the clock.
    var now: PipelineClock.Instant { call.settings.clock.now }

    /// The provider's random numbers: the only source of chance.
    public var random: PipelineRandom { call.settings.random }

    /// The provider's limits.
    public var limits: PipelineLimits { call.settings.limits }

    /// Whether the caller reads the body as a stream.
    public var isStreaming: Bool { call.isStreaming }

    /// Whether the answer of the call is written to a file.
    public var isDownload: Bool { call.download != nil }

    /// Whether the transport hands bodies over decoded, as ``Transport/decodesContent``.
    public var transportDecodesContent: Bool { call.settings.transportDecodesContent }

    /// Whether a transport is to hand over the body of its answer piece by piece as it arrives.
    ///
    /// It is when the caller reads it so, when it is written to a file, when its progress is reported, and when the time between its
    /// bytes is limited and ``Transport/enforcesIdleTimeout(_:)`` is `false`. Otherwise a transport may hand over whichever form costs it
    /// least.
    public var wantsStream: Bool { call.isStreaming || isIdleTimed || call.download != nil || call.meter != nil }

    /// Lets a transport tell how much of the request's body the network has taken.
    ///
    /// It costs nothing when nobody watches the progress of the call.
    ///
    /// - Parameter byteCount: the bytes of this exchange so far, all together.
    public func reportSent(_ byteCount: Int) {
        call.meter?.sent(byteCount, at: clock.now)
    }

    /// Tells how much of the answer's body has arrived.
    func reportReceived(_ byteCount: Int, of totalByteCount: Int?) {
        call.meter?.received(byteCount, of: totalByteCount, at: clock.now)
    }

    /// The exchanges of the call that have ended so far; in a stack with exchange plugins, each from its header fields on.
    public var exchanges: [PipelineExchange] { call.exchanges }

    /// In ``Stage/DidReceive`` the exchange that has ended; `nil` until an exchange has a response or has failed.
    public var exchange: PipelineExchange? { exchanges.last { $0.id == exchangeID } }

    /// Notes why an outcome that called for another attempt is not followed by one.
    ///
    /// It stands in ``PipelineExchange/refusedRetry`` of the exchange that ended last, for all who see the outcome from now on.
    ///
    /// - Parameters:
    ///   - refusal: why.
    ///   - outcome: what is given back, whose exchanges become those of the call so far.
    public func noteRefusedRetry(
        _ refusal: PipelineExchange.RetryRefusal,
        of outcome: inout Result<PipelineResponse, PipelineError>
    ) {
        let exchanges = call.noteRefusedRetry(refusal)
        switch outcome {
        case .success(var response):
            response.exchanges = exchanges
            outcome = .success(response)
        case .failure(var error):
            error.exchanges = exchanges
            outcome = .failure(error)
        }
    }

    /// A value that plugins share within the call; every part of the call sees the same one.
    ///
    /// ``update(_:_:)`` changes it.
    @inlinable
    public subscript<Key: PipelineContextKey>(key: Key.Type) -> Key.Value {
        call.value(for: ObjectIdentifier(key)).flatMap { $0 as? Key.Value } ?? Key.defaultValue
    }

    /// Changes a value that plugins share within the call.
    ///
    /// ```swift
    /// let count = context.update(RequestCount.self) { count in
    ///     count += 1
    ///     return count
    /// }
    /// ```
    ///
    /// The change is atomic: no other read or change of the call's values happens while the closure runs, so that calls of `next` that
    /// run concurrently lose no update. Keep the closure short and use nothing but the value in it. Using the context there traps.
    ///
    /// - Parameters:
    ///   - key: the key of the value.
    ///   - change: changes the value, which is ``PipelineContextKey/defaultValue`` until the first change. What it has changed stays
    ///     changed if it throws.
    /// - Returns: what the closure returns.
    /// - Throws: what the closure throws.
    public func update<Key: PipelineContextKey, Output: Sendable, Failure: Error>(
        _ key: Key.Type,
        _ change: (inout Key.Value) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try call.update(ObjectIdentifier(key), from: Key.defaultValue, isInherited: Key.isInherited, change)
    }
}

extension PipelineContext: SafelyDescribed {
    /// The number of the call, the attempt and the hop.
    public var description: String { "call \(callID), attempt \(attempt), hop \(hop)" }
}

/// A key for values that plugins share within a call.
///
/// ```swift
/// enum CacheHit: PipelineContextKey { static let defaultValue = false }
/// context.update(CacheHit.self) { $0 = true }
/// if context[CacheHit.self] { … }
/// ```
public protocol PipelineContextKey: SendableMetatype {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value until the first change.
    static var defaultValue: Value { get }
    /// Whether a call in the background begins with the value of its parent, see ``Stage/Next/startBackgroundCall(_:then:)``; by default not.
    static var isInherited: Bool { get }
}

extension PipelineContextKey {
    /// The value is not inherited.
    public static var isInherited: Bool { false }
}
