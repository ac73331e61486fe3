import HTTPTypes

/// One request handed to the transport, and what came of it.
public struct PipelineExchange: Sendable {
    /// Identifies the exchange among those of its call.
    public let id: PipelineContext.ExchangeID
    /// The request as it was sent.
    public let request: PipelineRequest
    /// The status of the answer, `nil` when there was none.
    public internal(set) var statusCode: Int?
    /// How the exchange failed, `nil` when it did not.
    public internal(set) var failure: PipelineError.Code?
    /// Which attempt of the call this belongs to, from 1.
    public var attempt: Int { id.attempt }
    /// Which redirect this follows, 0 for the first request of an attempt.
    public var hop: Int { id.hop }
    /// When the exchange began, counted from the start of the call.
    public let start: Duration
    /// How long it took, with ``connectionWait``: to the last byte of a buffered body, to the header fields of a streamed one.
    public internal(set) var duration = Duration.zero
    /// How long the exchange waited for a connection, until it got a free one of the transport's pool or a new one was made;
    /// `nil` when the transport does not report it.
    ///
    /// If the exchange never got a connection, the whole ``duration``. A transport reports it with
    /// ``PipelineContext/reportConnectionWait()``.
    public internal(set) var connectionWait: Duration?
    /// Why a redirect that this exchange answered was not followed; `nil` when it was, or when there was none.
    public internal(set) var refusedRedirect: RedirectPolicy.Refusal?
    /// Why no further attempt follows although the outcome called for one; `nil` when one does, or when none was called for.
    ///
    /// A plugin that retries says so with ``PipelineContext/noteRefusedRetry(_:of:)``.
    public internal(set) var refusedRetry: RetryRefusal?
}

extension PipelineExchange {
    /// Why an attempt that failed is not followed by another.
    public struct RetryRefusal: RawRepresentable, Sendable, Hashable {
        /// The reason's name.
        public let rawValue: String
        /// Makes a reason.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The request may have been worked on, and its method does not allow that twice.
        public static let methodNotIdempotent = RetryRefusal(rawValue: "methodNotIdempotent")
        /// The body has been read and cannot be sent again.
        public static let bodyNotReplayable = RetryRefusal(rawValue: "bodyNotReplayable")
        /// All attempts that are allowed have been made.
        public static let attemptsUsedUp = RetryRefusal(rawValue: "attemptsUsedUp")
        /// The server asks to wait for longer than anybody wants to.
        public static let retryAfterTooLong = RetryRefusal(rawValue: "retryAfterTooLong")
        /// The call has to have ended before the next attempt could begin.
        public static let deadline = RetryRefusal(rawValue: "deadline")
        /// Too many of the calls to this host have been retried lately.
        public static let budget = RetryRefusal(rawValue: "budget")
        /// The machine had no network for as long as a retry may wait for one.
        public static let offline = RetryRefusal(rawValue: "offline")
    }
}

extension PipelineExchange: SafelyDescribed {
    /// The request without its query, what came of it, the attempt and hop, the duration and the wait for a connection.
    public var description: String {
        var text = "\(request), "
        text += statusCode.map { "status \($0)" } ?? failure?.rawValue ?? "no response"
        text += ", attempt \(attempt), hop \(hop), \(duration)"
        if let connectionWait { text += " including \(connectionWait) of waiting for a connection" }
        if let refusedRedirect { text += ", redirect not followed: \(refusedRedirect.rawValue)" }
        if let refusedRetry { text += ", not retried: \(refusedRetry.rawValue)" }
        return text
    }
}
