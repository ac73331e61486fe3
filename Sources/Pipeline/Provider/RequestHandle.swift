/// A call made with a completion, so that it can be cancelled.
public struct RequestHandle: Sendable {
    let task: Task<Void, Never>

    package init(task: Task<Void, Never>) {
        self.task = task
    }

    /// Cancels the call; its completion still runs, once.
    ///
    /// Cancelling again, or after the end, does nothing.
    public func cancel() {
        task.cancel()
    }

    /// Whether ``cancel()`` was called, which the call may have come before with its end.
    public var isCancelled: Bool { task.isCancelled }

    /// Waits until the call is over and the last of its callbacks has run; at once when it is.
    ///
    /// Cancelling the task that waits cancels neither the call nor the waiting.
    public func finished() async { await task.value }
}
