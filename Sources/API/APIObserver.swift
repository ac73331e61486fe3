public import PipelineCore

/// The closures to which an ``APIOperation`` reports while it runs.
///
/// A closure runs as part of the operation, so it must return immediately and leave any work to others. A closure that
/// is `nil` costs nothing.
public struct APIObserver: Sendable {
    /// Called each time a request is handed to the transport, including retries and redirects.
    ///
    /// It is not called for a call that shares the exchange of another call, or that a plugin responds to.
    public var onStart: (@Sendable () -> Void)?
    /// Called with the progress, from 0 to 1, which never decreases.
    public var onProgress: (@Sendable (Double) -> Void)?
    /// Called with each failure that does not end the operation, as it happens; see
    /// ``APIBatch/avoidCancelOnError(except:exceptCodes:exceptKinds:)``.
    public var onFailure: (@Sendable (PipelineError) -> Void)?

    /// Creates an observer; without closures it observes nothing.
    public init(
        onStart: (@Sendable () -> Void)? = nil,
        onProgress: (@Sendable (Double) -> Void)? = nil,
        onFailure: (@Sendable (PipelineError) -> Void)? = nil
    ) {
        self.onStart = onStart
        self.onProgress = onProgress
        self.onFailure = onFailure
    }

    /// The same observer for a part of the operation, with another closure for its progress.
    func part(_ onProgress: (@Sendable (Double) -> Void)?) -> APIObserver {
        var copy = self
        copy.onProgress = onProgress
        return copy
    }
}
