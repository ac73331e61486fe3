/// The call that a plugin takes part in, with its target, options, limits, clock and shared values.
public struct PipelineContext: Sendable {
    /// The progress of a call beyond its first exchange.
    private struct Progress: Sendable {
        var pass: Pass?
        var attempt = 1
        var hop = 0
        var hasLeftOrigin = false
        var hopEntry: PipelineRequest?
        var exchangeNumber = 0
        var isIdleTimed = false
        var attemptTimer: AttemptTimer?
        var phaseLog: PhaseLog?
    }

    @usableFromInline let call: CallState
    /// `nil` if all values are the initial ones.
    ///
    /// Each step of a call then copies only two references; most calls need no more.
    private var changed: CopyOnWrite<Progress>?
    /// The span of the timeline in which the next one begins; 0 for that of the call.
    var span = 0

    /// The number of the attempt, from 1.
    ///
    /// Each further call of `next` by an interceptor begins a new attempt.
    public var attempt: Int { changed?.value.attempt ?? 1 }

    /// The number of redirects that led to this hop; 0 outside exchanges.
    public var hop: Int { changed?.value.hop ?? 0 }

    /// Whether a redirect of this chain has led to another origin, which means another scheme, host or port.
    ///
    /// If so, credentials and secret fields have been removed from the request, even if a later redirect leads back. An
    /// exchange plugin must not add any, unless its user has allowed that.
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

    /// The timer of the exchange, if its time is limited.
    var attemptTimer: AttemptTimer? {
        get { changed?.value.attemptTimer }
        set { progress.attemptTimer = newValue }
    }

    /// The phases of the exchange, if they are recorded.
    var phaseLog: PhaseLog? {
        get { changed?.value.phaseLog }
        set { progress.phaseLog = newValue }
    }

    private var pass: Pass? { changed?.value.pass }

    private var progress: Progress {
        get { changed?.value ?? Progress() }
        set { changed = CopyOnWrite(newValue) }
    }

    init(call: CallState) {
        self.call = call
    }

    /// Makes the context of a call that begins on the hop of another call.
    init(call: CallState, onHopOf parent: PipelineContext) {
        self.call = call
        guard parent.hop > 0 || parent.hasLeftOrigin else { return }
        progress.hop = parent.hop
        progress.hasLeftOrigin = parent.hasLeftOrigin
    }

    /// Moves on to the hop that a redirect leads to.
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

    /// Returns the context of the call's next attempt.
    ///
    /// - Throws: ``PipelineError`` with code `limit.exchanges` if the call has begun the maximum number of attempts.
    func makeNextAttempt() throws -> PipelineContext {
        var copy = self
        copy.progress.pass = Pass()
        copy.progress.attempt = call.beginAttempt()
        guard copy.attempt <= limits.exchangeCount else { throw PipelineError.tooManyExchanges(self) }
        return copy
    }

    /// The number of the call, from 1; unique within its provider.
    public var callID: Int { call.id }

    /// The target of the call, unwrapped if it is a ``MultiTarget``.
    public var target: any TargetType { call.target }

    /// The endpoint that was made from the target.
    public var endpoint: Endpoint {
        _read { yield call.endpoint }
    }

    /// The options of the target, overridden by those of the call.
    public var options: RequestOptions {
        _read { yield call.options }
    }

    /// The moment at which the call began, on ``clock``.
    public var start: PipelineClock.Instant { call.start }

    /// The provider's clock, the only source of time.
    public var clock: PipelineClock { call.settings.clock }

    /// The current time on ``clock``, read without copying the clock.
    var now: PipelineClock.Instant { call.settings.clock.now }

    /// The provider's random number generator, the only source of randomness.
    public var random: PipelineRandom { call.settings.random }

    /// The limits that the provider was configured with.
    public var limits: ProviderConfiguration.Limits { call.settings.limits }

    /// Whether the caller reads the body as a stream.
    public var isStreaming: Bool { call.form == .stream }

    /// The statuses that the call accepts: those of the target or, if it leaves the choice to the call, those that
    /// ``ValidationType/automatic`` describes.
    public var validationType: ValidationType {
        let accepted = target.validationType
        guard accepted == .automatic else { return accepted }
        return call.form == .response && !isDownload ? .anyStatus : .successCodes
    }

    /// Whether the body of the response is written to a file.
    public var isDownload: Bool { call.download != nil }

    /// Whether the transport decodes bodies, see ``Transport/decodesContent``.
    public var transportDecodesContent: Bool { call.settings.transportDecodesContent }

    /// Whether the transport must hand over the body of its response piece by piece as it arrives.
    ///
    /// This is `true` if the caller reads the body as a stream, if the body is written to a file, or if its progress is
    /// reported. It is also `true` if the time between its bytes is limited and the core measures it, see
    /// ``Transport/enforcesIdleTimeout(_:)``. Otherwise, a transport may hand over the body in the form that costs it
    /// least.
    public var wantsStream: Bool { isStreaming || isIdleTimed || call.download != nil || call.meter != nil }

    /// Reports how much of the response's body has arrived.
    func reportReceived(_ byteCount: Int, of totalByteCount: Int?) {
        call.meter?.received(byteCount, of: totalByteCount, at: clock.now)
    }

    /// The exchanges of the call that have ended so far.
    ///
    /// In a stack with exchange plugins, an exchange is listed once its header fields have arrived.
    public var exchanges: [PipelineExchange] { call.exchanges }

    /// In ``Stage/DidReceive``, the exchange that has ended; `nil` until an exchange has a response or has failed.
    public var exchange: PipelineExchange? { exchanges.last { $0.id == exchangeID } }

    /// Records why no retry follows an outcome that called for one.
    ///
    /// The reason becomes the ``PipelineExchange/refusedRetry`` of the exchange that ended last. From then on, every
    /// plugin and the caller see it in the outcome.
    ///
    /// - Parameters:
    ///   - refusal: the reason.
    ///   - outcome: the outcome to return. Its exchanges become those of the call so far.
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

    /// The value that plugins share within the call for a key.
    ///
    /// Every part of the call sees the same value. Change it with ``update(_:_:)``.
    @inlinable
    public subscript<Key: PipelineContext.Key>(key: Key.Type) -> Key.Value {
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
    /// The change is atomic: no other code reads or changes the call's values while the closure runs. Concurrent calls
    /// of `next` therefore lose no update. Keep the closure short, and use only the value in it. Using the context in
    /// the closure traps.
    ///
    /// - Parameters:
    ///   - key: the key of the value.
    ///   - change: a closure that changes the value, which is ``PipelineContext/Key/defaultValue`` before the first
    ///     change. If the closure throws, its changes are kept.
    /// - Returns: what the closure returns.
    /// - Throws: what the closure throws.
    public func update<Key: PipelineContext.Key, Output: Sendable, Failure: Error>(
        _ key: Key.Type,
        _ change: (inout Key.Value) throws(Failure) -> Output
    ) throws(Failure) -> Output {
        try call.update(ObjectIdentifier(key), from: Key.defaultValue, isInherited: Key.isInherited, change)
    }
}

extension PipelineContext: SafelyDescribed {
    /// The numbers of the call and the attempt, and that of the redirect after the first hop.
    public var description: String { "call \(callID), attempt \(attempt)\(hop > 0 ? ", redirect \(hop)" : "")" }
}

extension PipelineContext {
    /// A key for values that plugins share within a call.
    ///
    /// ```swift
    /// enum CacheHit: PipelineContext.Key { static let defaultValue = false }
    /// context.update(CacheHit.self) { $0 = true }
    /// if context[CacheHit.self] { … }
    /// ```
    public protocol Key: SendableMetatype {
        /// The type of the value.
        associatedtype Value: Sendable
        /// The value before the first change.
        static var defaultValue: Value { get }
        /// Whether a background call begins with the value of its parent; defaults to `false`. See
        /// ``Stage/Next/startBackgroundCall(_:then:)``.
        static var isInherited: Bool { get }
    }
}

extension PipelineContext.Key {
    /// The default, `false`: a background call does not inherit the value.
    public static var isInherited: Bool { false }
}
