private enum AttemptTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil
}

extension RequestOptions {
    /// The longest that one exchange with the network may take.
    ///
    /// The exchange ends with the last byte of its response, or with the header fields for a call made with `stream`.
    /// The time starts when the transport reports that the exchange has a connection. If the transport cannot report
    /// this, as with `URLSessionTransport`, the time starts with the call of ``Transport/send(_:context:)``, so a wait
    /// for a busy connection counts. The transport has its own limit for this wait, which fails with `timeout.pool` or
    /// `timeout.connect`.
    ///
    /// The core measures the time on the provider's clock for every transport. An exchange that takes longer fails with
    /// ``PipelineError/Code-swift.struct/timeout(_:)`` and `.attempt`. The core cancels the transport and waits for it
    /// to end.
    ///
    /// Defaults to `nil`: the time that a plugin sets in ``PipelineRequest/attemptTimeout`` applies. Without one, only
    /// the transport's own idle timeout applies.
    public var attemptTimeout: Duration? {
        get { self[AttemptTimeout.self] }
        set {
            if let newValue { precondition(newValue > .zero, "attemptTimeout is \(newValue), not more than zero") }
            self[AttemptTimeout.self] = newValue
        }
    }
}
