extension PipelineContext {
    /// Lets a transport report that its exchange begins to wait for a connection: a free one of its pool, or a new one.
    ///
    /// A transport that knows when an exchange gets its connection calls this first, and ``reportConnection()`` as soon as the
    /// connection is there, before it writes the request:
    ///
    /// ```swift
    /// context.reportConnectionWait()
    /// let connection = try await pool.connection(to: request, within: .seconds(10))
    /// context.reportConnection()
    /// ```
    ///
    /// The time in between does not count toward ``RequestOptions/attemptTimeout`` and becomes
    /// ``PipelineExchange/connectionWait``. The transport must bound it, and fails with ``PipelineError/Code-swift.struct/timeout(_:)``
    /// and `.pool` when all connections stay busy, or `.connect` when none can be made in time. Without this report an attempt
    /// counts from the call of ``Transport/send(_:context:)``.
    ///
    /// Is ignored after ``reportConnection()``: a transport that has to replace a connection which turns out to be dead does so
    /// within the time of the attempt. May be called from any thread.
    public func reportConnectionWait() {
        attemptTimer?.connectionIsAwaited()
        call.noteConnectionWait(of: exchangeID)
    }

    /// Lets a transport report that its exchange has a connection and begins to write the request.
    ///
    /// The time of ``RequestOptions/attemptTimeout`` starts here. Only the first report of an exchange counts. May be called from
    /// any thread.
    public func reportConnection() {
        let now = clock.now
        attemptTimer?.connectionIsThere(at: now)
        call.noteConnection(at: now, of: exchangeID)
    }
}
