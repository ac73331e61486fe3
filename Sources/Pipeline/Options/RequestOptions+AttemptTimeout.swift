private enum AttemptTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil
}

extension RequestOptions {
    /// The longest that one exchange with the network may take, from its start to its last byte; to its header fields for a
    /// call made with `stream`.
    ///
    /// Measured on the provider's clock, by the core, for every transport. Default `nil`: what a plugin has stated in
    /// ``PipelineRequest/attemptTimeout``, and without one only the transport's own idle timeout. Exceeding it is ``PipelineError/Code-swift.struct/timeout(_:)`` with `.attempt`. The transport is
    /// cancelled then, and waited for.
    public var attemptTimeout: Duration? {
        get { self[AttemptTimeout.self] }
        set {
            if let newValue { precondition(newValue > .zero, "attemptTimeout is \(newValue), not more than zero") }
            self[AttemptTimeout.self] = newValue
        }
    }
}
