/// A step in the progress of a call; the last step has the response.
///
/// Equal steps are not repeated. Of the steps that have not been read yet, only the newest is kept.
public struct ProgressResponse: Sendable {
    /// The bytes of a body that have been transferred, and their total number.
    public struct Transfer: Sendable, Hashable {
        /// The bytes transferred in the current exchange; a resumed download also counts the bytes before it.
        public var byteCount: Int
        /// The total number of bytes; `nil` if it is unknown.
        public var totalByteCount: Int?

        /// Makes a count of transferred bytes.
        public init(byteCount: Int = 0, totalByteCount: Int? = nil) {
            self.byteCount = byteCount
            self.totalByteCount = totalByteCount
        }

        /// The fraction from 0 to 1; 0 while the total is unknown.
        var fraction: Double {
            guard let totalByteCount, totalByteCount > 0 else { return 0 }
            return min(Double(byteCount) / Double(totalByteCount), 1)
        }
    }

    /// The progress from 0 to 1; it never decreases, and is 1 exactly once, when the call has succeeded.
    ///
    /// Before that, it is at most 0.999: round a percentage down. If the task uploads (a file, a form, a stream), it is
    /// the fraction of the request body that was sent. Otherwise it is the fraction of the response that has arrived.
    /// It is 0 while the length is unknown.
    public let progress: Double
    /// The transfer of the request body, as far as the network has accepted it.
    public let sent: Transfer
    /// The transfer of the response body, as far as it has arrived.
    public let received: Transfer
    /// The transfer that ``progress`` measures: ``sent`` if the task uploads (a file, a form, a stream), otherwise
    /// ``received``.
    public let transfer: Transfer
    /// The speed of ``transfer`` in bytes per second: the mean over its last 5 seconds on the provider's clock.
    ///
    /// It is `nil` for the first half second after the first bytes. Each exchange is measured anew. The speed of an
    /// upload is too high at first, because the system buffers bytes before it sends them.
    public let bytesPerSecond: Double?
    /// The response, if the call has succeeded.
    public internal(set) var response: PipelineResponse?

    /// Makes a step, for tests and previews.
    ///
    /// - Parameters:
    ///   - progress: from 0 to 1; other values are clamped.
    ///   - sent: the transfer of the request body.
    ///   - received: the transfer of the response body.
    ///   - transfer: the transfer that `progress` measures; `nil` for `received`.
    ///   - bytesPerSecond: the speed of that transfer, zero and up; `nil` if it is unknown.
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
    /// It is `nil` while the total or the speed is unknown, and while no bytes pass.
    public var timeLeft: Duration? {
        guard let total = transfer.totalByteCount, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
        return .seconds(min(Double(max(0, total - transfer.byteCount)) / bytesPerSecond, 1e15))
    }

    /// Whether the call has succeeded.
    public var completed: Bool { response != nil }
}
