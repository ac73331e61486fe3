extension PipelineContext {
    /// Reports that the exchange begins to wait for a connection: a free one of the transport's pool, or a new one.
    ///
    /// For transports. A transport that knows when an exchange gets its connection calls this first. It calls
    /// ``reportConnection(_:at:)`` as soon as it has the connection, before it writes the request:
    ///
    /// ```swift
    /// context.reportConnectionWait()
    /// let connection = try await pool.connection(to: request, within: .seconds(10))
    /// context.reportConnection()
    /// ```
    ///
    /// The time in between does not count toward ``RequestOptions/attemptTimeout`` and becomes
    /// ``PipelineExchange/connectionWait``. The transport must limit it, and fail with
    /// ``PipelineError/Code-swift.struct/timeout(_:)``: `.pool` if all connections stay busy, or `.connect` if no
    /// connection can be made in time. Without this report, the time of an attempt starts with the call of
    /// ``Transport/send(_:context:)``.
    ///
    /// Calls after ``reportConnection(_:at:)`` are ignored: a transport that has to replace a dead connection does so
    /// within the time of the attempt. May be called from any thread.
    public func reportConnectionWait() {
        attemptTimer?.connectionIsAwaited()
        phaseLog?.change { [now] in if $0.connectionAwaited == nil { $0.connectionAwaited = now } }
        call.noteConnectionWait(of: exchangeID)
    }

    /// Reports that the exchange has a connection and begins to write the request.
    ///
    /// For transports. The time of ``RequestOptions/attemptTimeout`` starts with the first report of an exchange; the
    /// connection is that of the latest. May be called from any thread.
    ///
    /// - Parameters:
    ///   - connection: what the transport knows of the connection, which becomes ``PipelineExchange/connection``.
    ///   - moment: when the exchange had the connection; `nil` for now.
    public func reportConnection(_ connection: ExchangeConnection? = nil, at moment: PipelineClock.Instant? = nil) {
        let now = moment ?? now
        attemptTimer?.connectionIsThere(at: now)
        call.noteConnection(connection, at: now, of: exchangeID)
        phaseLog?.change { phases in
            phases.connection = connection ?? phases.connection
            if phases.connected == nil { phases.connected = now }
        }
    }

    /// Reports moments of the exchange, such as when the last byte of the request was handed to the network.
    ///
    /// ```swift
    /// context.reportPhases { $0.requestSent = context.clock.now }
    /// ```
    ///
    /// For transports. It costs nothing unless ``observesPhases`` is `true`. May be called from any thread, and until
    /// the body of the response has ended.
    ///
    /// - Parameter set: sets the moments that the transport reports; the others remain as they are. Of several reports
    ///   of `responseBegan`, the first counts; otherwise, the last.
    public func reportPhases(_ set: (inout ExchangePhases) -> Void) {
        guard let phaseLog else { return }
        var reported = ExchangePhases()
        set(&reported)
        phaseLog.change { $0.merge(reported) }
    }

    /// Whether the phases of the exchange are recorded, by a timeline or by ``observingPhases()``.
    public var observesPhases: Bool { phaseLog != nil }

    /// Returns a context for another transport, and a closure that returns what that transport has reported.
    ///
    /// For transports that wrap another one, such as one that records exchanges.
    public func observingPhases() -> (context: PipelineContext, phases: @Sendable () -> ExchangePhases) {
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
}
