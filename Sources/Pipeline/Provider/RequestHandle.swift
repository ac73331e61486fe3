/// A call made with a completion, so that it can be cancelled.
public struct RequestHandle: Sendable {
    let task: Task<Void, Never>

    /// Cancels the call; its completion still runs, once.
    ///
    /// Cancelling again, or after the end, does nothing.
    public func cancel() {
        task.cancel()
    }

    /// Whether the call was cancelled.
    public var isCancelled: Bool { task.isCancelled }
}
