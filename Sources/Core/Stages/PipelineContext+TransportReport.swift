extension PipelineContext {
    /// What a transport knows about an exchange, which it reports with
    /// ``PipelineContext/report(_:)-(PipelineContext.TransportReport)``.
    ///
    /// ```swift
    /// context.report(.connectionAwaited)
    /// let connection = try await pool.connection(to: request, within: .seconds(10))
    /// context.report(.connection())
    /// ```
    ///
    /// Reports may come from any thread, and until the body of the response has ended.
    public struct TransportReport: Sendable {
        enum Kind: Sendable {
            case connectionAwaited
            case connection(PipelineExchange.Connection?, PipelineClock.Instant?)
            case phases(PipelineExchange.Phases)
            case sent(Int)
            case replayed(Bool)
            case unverifiedContent
            case event(String, transport: String)
        }

        let kind: Kind

        /// The exchange begins to wait for a connection: a free one of the transport's pool, or a new one.
        ///
        /// A transport that knows when an exchange gets its connection reports this first, and ``connection(_:at:)`` as
        /// soon as it has the connection, before it writes the request. The time in between does not count toward
        /// ``RequestOptions/attemptTimeout`` and becomes ``PipelineExchange/connectionWait``. The transport must limit
        /// it, and fail with ``PipelineError/Code-swift.struct/timeout(_:)``: `.pool` if all connections stay busy, or
        /// `.connect` if no connection can be made in time. Without this report, the time of an attempt starts with the
        /// call of ``Transport/send(_:context:)``.
        ///
        /// It is ignored after ``connection(_:at:)``: a transport that has to replace a dead connection does so within
        /// the time of the attempt.
        public static let connectionAwaited = PipelineContext.TransportReport(kind: .connectionAwaited)

        /// The exchange has a connection, and the transport begins to write the request.
        ///
        /// The time of ``RequestOptions/attemptTimeout`` starts with the first report of an exchange; the connection is
        /// that of the latest.
        ///
        /// - Parameters:
        ///   - connection: what the transport knows of the connection, which becomes ``PipelineExchange/connection``.
        ///   - moment: when the exchange had the connection; `nil` for now.
        /// - Returns: the report.
        public static func connection(
            _ connection: PipelineExchange.Connection? = nil,
            at moment: PipelineClock.Instant? = nil
        ) -> PipelineContext.TransportReport {
            PipelineContext.TransportReport(kind: .connection(connection, moment))
        }

        /// Moments of the exchange, such as when the last byte of the request was handed to the network.
        ///
        /// ```swift
        /// if context.observesPhases { context.report(.phases { $0.requestSent = context.clock.now }) }
        /// ```
        ///
        /// - Parameter set: sets the moments that the transport reports; the others remain as they are. Of several
        ///   reports of `responseBegan`, the first counts; otherwise, the last.
        /// - Returns: the report.
        public static func phases(_ set: (inout PipelineExchange.Phases) -> Void) -> PipelineContext.TransportReport {
            var phases = PipelineExchange.Phases()
            set(&phases)
            return PipelineContext.TransportReport(kind: .phases(phases))
        }

        /// How much of the request's body the network has accepted: the total number of bytes of this exchange so far.
        ///
        /// It costs nothing if the progress of the call is not observed.
        public static func sent(_ byteCount: Int) -> PipelineContext.TransportReport {
            PipelineContext.TransportReport(kind: .sent(byteCount))
        }

        /// Whether the response comes from a recording that is replayed without its delays.
        ///
        /// A transport reports it before it returns or throws. See ``PipelineContext/isReplayed``.
        public static func replayed(_ isReplayed: Bool) -> PipelineContext.TransportReport {
            PipelineContext.TransportReport(kind: .replayed(isReplayed))
        }

        /// The transport has decoded the body without noticing if it ends early.
        ///
        /// A transport reports it before it returns the response. See ``PipelineContext/hasUnverifiedContent``.
        public static let unverifiedContent = PipelineContext.TransportReport(kind: .unverifiedContent)

        /// What the transport did, for logs, metrics and outcomes, like ``PipelineContext/annotate(_:by:duration:)``.
        ///
        /// - Parameters:
        ///   - event: what the transport did, as one of a few fixed words; it must not contain a secret.
        ///   - transport: the name of the transport.
        /// - Returns: the report.
        public static func event(_ event: String, of transport: String) -> PipelineContext.TransportReport {
            PipelineContext.TransportReport(kind: .event(event, transport: transport))
        }
    }
}

extension PipelineContext {
    /// Reports what a transport knows about the exchange.
    public func report(_ report: PipelineContext.TransportReport) {
        switch report.kind {
        case .connectionAwaited: awaitConnection()
        case .connection(let connection, let moment): use(connection, at: moment ?? now)
        case .phases(let phases): phaseLog?.change { $0.merge(phases) }
        case .sent(let byteCount): call.meter?.sent(byteCount, at: now)
        case .replayed(let isReplayed): update(Replayed.self) { $0 = isReplayed }
        case .unverifiedContent: update(UnverifiedContent.self) { $0 = true }
        case .event(let event, let transport):
            call.annotate(PipelineContext.Annotation(plugin: transport, event: event, duration: nil), attempt, hop)
        }
    }

    private func awaitConnection() {
        attemptTimer?.connectionIsAwaited()
        phaseLog?.change { [now] in if $0.connectionAwaited == nil { $0.connectionAwaited = now } }
        call.noteConnectionWait(of: exchangeID)
    }

    private func use(_ connection: PipelineExchange.Connection?, at now: PipelineClock.Instant) {
        attemptTimer?.connectionIsThere(at: now)
        call.noteConnection(connection, at: now, of: exchangeID)
        phaseLog?.change { phases in
            phases.connection = connection ?? phases.connection
            if phases.connected == nil { phases.connected = now }
        }
    }

    /// Whether the phases of the exchange are recorded, by a timeline or by ``observingPhases()``.
    public var observesPhases: Bool { phaseLog != nil }

    /// Returns a context for another transport, and a closure that returns what that transport has reported.
    ///
    /// For transports that wrap another one, such as one that records exchanges.
    public func observingPhases() -> (context: PipelineContext, phases: @Sendable () -> PipelineExchange.Phases) {
        let (context, log) = observed()
        return (context, { log.phases })
    }

    /// Returns a context whose phases are recorded, in the log that it already has or in a new one.
    func observed() -> (PipelineContext, PhaseLog) {
        if let phaseLog { return (self, phaseLog) }
        let log = PhaseLog()
        var copy = self
        copy.phaseLog = log
        return (copy, log)
    }

    private enum UnverifiedContent: PipelineContext.Key { static let defaultValue = false }

    /// Whether the transport has decoded the body of a response without noticing if it ends early.
    ///
    /// A plugin must then neither store the response nor combine it with another.
    public var hasUnverifiedContent: Bool { self[UnverifiedContent.self] }

    private enum Replayed: PipelineContext.Key { static let defaultValue = false }

    /// Whether the last response came from a recording that is replayed without its delays.
    ///
    /// If it is `true`, a plugin must not wait for the server, even if Retry-After asks for a wait.
    public var isReplayed: Bool { self[Replayed.self] }
}
