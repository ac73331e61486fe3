private enum IdleTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil
}

extension RequestOptions {
    /// The longest that the body of a response may go without a byte, once its header fields have arrived.
    ///
    /// It applies to a body that is buffered, written to a file or read as a stream. Time counts only while a reader
    /// waits for bytes, so a slow reader is not mistaken for a slow server. ``attemptTimeout`` limits the wait for the
    /// header fields.
    ///
    /// The core measures the time on the provider's clock, and the transport delivers the body as it arrives. If the
    /// clock is the system's, a transport that buffers a body may measure the time instead; see
    /// ``Transport/enforcesIdleTimeout(_:)``. A body that exceeds the limit fails with
    /// ``PipelineError/Code-swift.struct/timeout(_:)`` and `.idle`, and the exchange is closed.
    ///
    /// Defaults to `nil`: the time that a plugin sets in ``PipelineRequest/idleTimeout`` applies. Without one, only the
    /// transport's own idle timeout applies.
    public var idleTimeout: Duration? {
        get { self[IdleTimeout.self] }
        set {
            if let newValue { precondition(newValue > .zero, "idleTimeout is \(newValue), not more than zero") }
            self[IdleTimeout.self] = newValue
        }
    }
}
