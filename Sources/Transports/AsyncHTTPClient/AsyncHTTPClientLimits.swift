#if AsyncHTTPClient
import NIOCore
import PipelineCore

/// The timeouts of a transport, and those that follow for a request.
struct AsyncHTTPClientLimits {
    private let timer: AsyncHTTPClientTimer
    private let read: Duration?
    private let write: Duration?
    /// The limits for the header fields after a body that is sent with the head, and after one that is sent in pieces.
    private let head: (atOnce: TimeAmount?, inPieces: TimeAmount?)

    init(head: Duration?, read: Duration?, write: Duration?) {
        for (name, timeout) in [("headTimeout", head), ("readTimeout", read), ("writeTimeout", write)] {
            if let timeout { precondition(timeout > .zero, "\(name) is \(timeout), not more than zero") }
        }
        timer = AsyncHTTPClientTimer([read, write])
        self.read = read
        self.write = write
        self.head = ([head, read].compactMap(\.self).min().map(TimeAmount.init), head.map(TimeAmount.init))
    }

    /// Returns the timeouts of the waits that the connection does not limit, or `nil` if they are unlimited.
    func timeouts(of request: PipelineRequest, _ context: PipelineContext) -> AsyncHTTPClientTimeouts? {
        let idle = idle(request, context)
        if AsyncHTTPClientUpload.isInPieces(request.body) {
            return AsyncHTTPClientTimeouts(timer, head: read, idle: idle, write: write)
        }
        return idle.map { AsyncHTTPClientTimeouts(timer, head: nil, idle: $0, write: nil) }
    }

    /// Returns the longest wait for the next bytes of the body, or `nil` if the core measures the call's own idle
    /// timeout.
    func idle(_ request: PipelineRequest, _ context: PipelineContext) -> Duration? {
        guard let own = context.options.idleTimeout ?? request.idleTimeout else { return read }
        return context.wantsStream ? nil : own
    }

    /// Returns the longest wait for the header fields.
    ///
    /// For a body in pieces, the read timeout starts at its end instead.
    func head(isInPieces: Bool) -> TimeAmount? { isInPieces ? head.inPieces : head.atOnce }
}
#endif
