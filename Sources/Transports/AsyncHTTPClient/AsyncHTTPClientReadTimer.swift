#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore

/// Limits how long the exchanges of a connection wait for their header fields, from the moment they have the connection, and for
/// the next bytes of their bodies.
///
/// Used on the event loop of its connection alone. One scheduled task serves many exchanges: it checks when it runs whether one still
/// waits, so that an exchange of the usual kind schedules and cancels nothing.
final class AsyncHTTPClientReadTimer {
    private let eventLoop: any EventLoop
    private let onTimeout: (HTTPClientError) -> Void
    private var awaited: (deadline: NIODeadline, failure: HTTPClientError)?
    private var scheduled: (deadline: NIODeadline, task: Scheduled<Void>)?

    init(_ eventLoop: any EventLoop, onTimeout: @escaping (HTTPClientError) -> Void) {
        self.eventLoop = eventLoop
        self.onTimeout = onTimeout
    }

    /// An exchange waits from now, and fails when the time is up.
    func start(_ limit: TimeAmount, or failure: HTTPClientError) {
        let deadline = NIODeadline.now() + limit
        awaited = (deadline, failure)
        if let scheduled, scheduled.deadline <= deadline { return }
        scheduled?.task.cancel()
        schedule(at: deadline)
    }

    /// What was waited for has come.
    func stop() { awaited = nil }

    /// The connection has ended.
    func cancel() {
        awaited = nil
        scheduled.take()?.task.cancel()
    }

    private func schedule(at date: NIODeadline) {
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: date) {
            self.scheduled = nil
            guard let awaited = self.awaited else { return }
            guard awaited.deadline <= .now() else { return self.schedule(at: awaited.deadline) }
            self.awaited = nil
            self.onTimeout(awaited.failure)
        }
        scheduled = (date, task)
    }
}
#endif
