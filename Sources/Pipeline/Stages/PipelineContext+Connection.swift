extension PipelineContext {
    /// Reports that the exchange begins to wait for a connection: a free one of the transport's pool, or a new one.
    ///
    /// For transports. A transport that knows when an exchange gets its connection calls this first. It calls
    /// ``reportConnection()`` as soon as it has the connection, before it writes the request:
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
    /// Calls after ``reportConnection()`` are ignored: a transport that has to replace a dead connection does so within
    /// the time of the attempt. May be called from any thread.
    public func reportConnectionWait() {
        attemptTimer?.connectionIsAwaited()
        call.noteConnectionWait(of: exchangeID)
    }

    /// Reports that the exchange has a connection and begins to write the request.
    ///
    /// For transports. The time of ``RequestOptions/attemptTimeout`` starts here. Only the first report of an exchange
    /// counts. May be called from any thread.
    public func reportConnection() {
        let now = clock.now
        attemptTimer?.connectionIsThere(at: now)
        call.noteConnection(at: now, of: exchangeID)
    }
}
