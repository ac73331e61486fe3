#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore

/// A timer that limits how long the exchanges of a connection wait for their header fields, from the moment they have
/// the connection, and for the next bytes of their bodies.
///
/// Used only on the event loop of its connection. One scheduled task serves many exchanges: when it runs, it checks
/// whether one is still waiting. A typical exchange therefore schedules and cancels nothing.
final class AsyncHTTPClientReadTimer {
    private let eventLoop: any EventLoop
    private let onTimeout: (HTTPClientError) -> Void
    private var awaited: (deadline: NIODeadline, failure: HTTPClientError)?
    /// The wait before it was limited further, which may be none; `nil` if it was not.
    private var unlimited: (deadline: NIODeadline, failure: HTTPClientError)??
    private var scheduled: (deadline: NIODeadline, task: Scheduled<Void>)?

    init(_ eventLoop: any EventLoop, onTimeout: @escaping (HTTPClientError) -> Void) {
        self.eventLoop = eventLoop
        self.onTimeout = onTimeout
    }

    /// Starts a wait that fails after the limit.
    func start(_ limit: TimeAmount, or failure: HTTPClientError) {
        let deadline = eventLoop.now + limit
        unlimited = nil
        awaited = (deadline, failure)
        if let scheduled, scheduled.deadline <= deadline { return }
        scheduled?.task.cancel()
        schedule(at: deadline)
    }

    /// Limits the wait further, until ``unlimit()``.
    func limit(to limit: TimeAmount, or failure: HTTPClientError) {
        let wait = awaited
        guard wait.map({ eventLoop.now + limit < $0.deadline }) ?? true else { return }
        start(limit, or: failure)
        unlimited = .some(wait)
    }

    /// Continues the wait that was limited further.
    func unlimit() {
        guard let wait = unlimited.take() else { return }
        awaited = wait
    }

    /// Notes that the awaited bytes have arrived.
    func stop() {
        unlimited = nil
        awaited = nil
    }

    /// Notes that the connection has ended.
    func cancel() {
        stop()
        scheduled.take()?.task.cancel()
    }

    private func schedule(at date: NIODeadline) {
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: date) {
            self.scheduled = nil
            guard let awaited = self.awaited else { return }
            guard awaited.deadline <= self.eventLoop.now else { return self.schedule(at: awaited.deadline) }
            self.awaited = nil
            self.onTimeout(awaited.failure)
        }
        scheduled = (date, task)
    }
}
#endif
