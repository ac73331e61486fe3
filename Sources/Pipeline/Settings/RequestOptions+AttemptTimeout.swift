private enum AttemptTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil
}

extension RequestOptions {
    /// The longest that one exchange with the network may take, to the last byte of its response; to its header fields for a
    /// call made with `stream`.
    ///
    /// The time starts when the transport reports that the exchange has a connection. A transport that cannot report this, such as
    /// `URLSessionTransport`, is timed from the call of ``Transport/send(_:context:)``, so that a wait for a busy connection
    /// counts. Waiting for a connection has a limit of the transport's own, and fails with `timeout.pool` or `timeout.connect`.
    ///
    /// The core measures the time on the provider's clock for every transport. Defaults to `nil`: the time that a plugin states in
    /// ``PipelineRequest/attemptTimeout``, and otherwise only the transport's own idle timeout. An exchange that takes longer
    /// fails with ``PipelineError/Code-swift.struct/timeout(_:)`` and `.attempt`; the transport is cancelled, and awaited.
    public var attemptTimeout: Duration? {
        get { self[AttemptTimeout.self] }
        set {
            if let newValue { precondition(newValue > .zero, "attemptTimeout is \(newValue), not more than zero") }
            self[AttemptTimeout.self] = newValue
        }
    }
}
