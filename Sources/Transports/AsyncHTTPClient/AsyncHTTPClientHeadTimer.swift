#if AsyncHTTPClient
import NIOCore

/// Limits how long the exchanges of a connection wait for their header fields, from the moment they have the connection.
///
/// Used on the event loop of its connection alone. One scheduled task serves many exchanges: it checks when it runs whether one still
/// waits, so that an exchange of the usual kind schedules and cancels nothing.
final class AsyncHTTPClientHeadTimer {
    private let eventLoop: any EventLoop
    private let onTimeout: () -> Void
    private var deadline: NIODeadline?
    private var scheduled: (deadline: NIODeadline, task: Scheduled<Void>)?

    init(_ eventLoop: any EventLoop, onTimeout: @escaping () -> Void) {
        self.eventLoop = eventLoop
        self.onTimeout = onTimeout
    }

    /// An exchange waits for its header fields from now.
    func start(_ limit: TimeAmount) {
        let deadline = NIODeadline.now() + limit
        self.deadline = deadline
        if let scheduled, scheduled.deadline <= deadline { return }
        scheduled?.task.cancel()
        schedule(at: deadline)
    }

    /// The header fields have come.
    func stop() { deadline = nil }

    /// The connection has ended.
    func cancel() {
        deadline = nil
        scheduled.take()?.task.cancel()
    }

    private func schedule(at date: NIODeadline) {
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: date) {
            self.scheduled = nil
            guard let deadline = self.deadline else { return }
            guard deadline <= .now() else { return self.schedule(at: deadline) }
            self.deadline = nil
            self.onTimeout()
        }
        scheduled = (date, task)
    }
}
#endif
