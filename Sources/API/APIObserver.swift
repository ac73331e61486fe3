public import Pipeline

/// What an ``APIOperation`` reports while it runs.
///
/// A closure runs where the operation does, on its way: it hands on and returns at once. One that is `nil` costs nothing.
public struct APIObserver: Sendable {
    /// Called each time a request is handed to the transport, with retries and redirects.
    ///
    /// A call that shares the exchange of another, or that a plugin responds to, hands none over.
    public var onStart: (@Sendable () -> Void)?
    /// Called with the progress, from 0 to 1, never less than before.
    public var onProgress: (@Sendable (Double) -> Void)?
    /// Called with each failure that does not end the operation, as it happens; see
    /// ``APIBatch/avoidCancelOnError(except:exceptCodes:exceptKinds:)``.
    public var onFailure: (@Sendable (PipelineError) -> Void)?

    /// Creates an observer; one without closures observes nothing.
    public init(
        onStart: (@Sendable () -> Void)? = nil,
        onProgress: (@Sendable (Double) -> Void)? = nil,
        onFailure: (@Sendable (PipelineError) -> Void)? = nil
    ) {
        self.onStart = onStart
        self.onProgress = onProgress
        self.onFailure = onFailure
    }

    /// The same observer of a part of the operation, whose progress is reported in another way.
    func part(_ onProgress: (@Sendable (Double) -> Void)?) -> APIObserver {
        var copy = self
        copy.onProgress = onProgress
        return copy
    }
}
