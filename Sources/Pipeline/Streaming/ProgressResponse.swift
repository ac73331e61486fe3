/// How far a call has come; the last of a call has the response.
///
/// Equal steps are not repeated, and of steps that nobody has read yet only the newest is kept.
public struct ProgressResponse: Sendable {
    /// Bytes of a body that have passed, and how many there are in all.
    public struct Transfer: Sendable, Hashable {
        /// The bytes of the present exchange that have passed; for a download that was resumed, with those before.
        public var byteCount: Int
        /// All bytes, `nil` when nobody has said.
        public var totalByteCount: Int?

        /// Makes a count.
        public init(byteCount: Int = 0, totalByteCount: Int? = nil) {
            self.byteCount = byteCount
            self.totalByteCount = totalByteCount
        }

        /// From 0 to 1; 0 while the total is not known.
        var fraction: Double {
            guard let totalByteCount, totalByteCount > 0 else { return 0 }
            return min(Double(byteCount) / Double(totalByteCount), 1)
        }
    }

    /// From 0 to 1, never less than before, and 1 exactly once: when the call has succeeded.
    ///
    /// Before that it is 0.999 at most: round a percentage down. For a task that uploads (a file, a form, a stream) it is the part of the
    /// body that was sent, for every other the part of the answer that has arrived; 0 while the length is not known.
    public let progress: Double
    /// The body of the request, as far as the network has taken it.
    public let sent: Transfer
    /// The body of the answer, as far as it has arrived.
    public let received: Transfer
    /// The body that ``progress`` measures: ``sent`` of a task that uploads (a file, a form, a stream), ``received`` of every other.
    public let transfer: Transfer
    /// How fast ``transfer`` goes, in bytes per second, as the mean over its last 5 seconds on the provider's clock.
    ///
    /// `nil` for the first half second after its first bytes. Each exchange is measured anew. An upload starts too high, because the system
    /// buffers what it has not yet sent.
    public let bytesPerSecond: Double?
    /// The response, when the call has succeeded.
    public let response: PipelineResponse?

    /// Makes a step, for tests and previews.
    ///
    /// - Parameters:
    ///   - progress: from 0 to 1; what is outside is brought in.
    ///   - sent: the body of the request.
    ///   - received: the body of the answer.
    ///   - transfer: the one that progress measures; `nil` for `received`.
    ///   - bytesPerSecond: how fast that one goes, zero and up; `nil` if it is not known.
    ///   - response: the response of a call that has succeeded.
    public init(
        progress: Double,
        sent: Transfer = Transfer(),
        received: Transfer = Transfer(),
        transfer: Transfer? = nil,
        bytesPerSecond: Double? = nil,
        response: PipelineResponse? = nil
    ) {
        self.progress = min(max(progress, 0), 1)
        self.sent = sent
        self.received = received
        self.transfer = transfer ?? received
        self.bytesPerSecond = bytesPerSecond
        self.response = response
    }

    /// The estimated time until ``transfer`` is complete, zero and up, if it continues at ``bytesPerSecond``.
    ///
    /// `nil` while the total is unknown, while the speed is, and while nothing passes.
    public var timeLeft: Duration? {
        guard let total = transfer.totalByteCount, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        return .seconds(min(Double(max(0, total - transfer.byteCount)) / bytesPerSecond, 1e15))
    }

    /// Whether the call has succeeded.
    public var completed: Bool { response != nil }
}
