private enum IdleTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil
}

extension RequestOptions {
    /// The longest that the body of an answer may go without a byte, once its header fields are there.
    ///
    /// For a body that is buffered, written to a file or read as a stream; only while somebody waits for its bytes, so that a slow
    /// reader is not taken for a slow server. How long the header fields may take is said by ``attemptTimeout``.
    ///
    /// The core measures the time on the provider's clock, and the transport hands the body over as it arrives. If the clock is the
    /// system's, a transport that buffers a body may measure the time instead, see ``Transport/enforcesIdleTimeout(_:)``.
    /// Default `nil`: what a plugin has stated in ``PipelineRequest/idleTimeout``, and without one only the transport's own idle
    /// timeout. Exceeding it is ``PipelineError/Code-swift.struct/timeout(_:)`` with `.idle`, and the exchange is closed.
    public var idleTimeout: Duration? {
        get { self[IdleTimeout.self] }
        set {
            if let newValue { precondition(newValue > .zero, "idleTimeout is \(newValue), not more than zero") }
            self[IdleTimeout.self] = newValue
        }
    }
}
