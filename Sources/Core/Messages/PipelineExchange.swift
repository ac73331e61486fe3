import HTTPTypes

/// A request handed to the transport, and its outcome.
public struct PipelineExchange: Sendable {
    /// The identifier of the exchange within its call.
    public let id: PipelineContext.ExchangeID
    /// The request as it was sent, with the header fields that a transport has added and returned.
    public internal(set) var request: PipelineRequest
    /// The status of the response; `nil` if there was none.
    public internal(set) var statusCode: Int?
    /// The code of the error with which the exchange failed; `nil` if it did not fail.
    public internal(set) var failure: PipelineError.Code?
    /// The attempt of the call that the exchange belongs to, counted from 1.
    public var attempt: Int { id.attempt }
    /// The number of the redirect that led to the exchange; 0 for the first request of an attempt.
    public var hop: Int { id.hop }
    /// The time from the start of the call to the start of the exchange.
    public let start: Duration
    /// How long the exchange took, including ``connectionWait``.
    ///
    /// It ends with the last byte of a buffered body, or with the header fields of a streamed one.
    public internal(set) var duration = Duration.zero
    /// How long the exchange waited for a connection; `nil` if the transport does not report it.
    ///
    /// The wait ends when the transport's pool has a free connection or a new one has been made. If the exchange never
    /// got a connection, the value is the whole ``duration``. A transport reports the wait with
    /// ``PipelineContext/TransportReport/connectionAwaited``.
    public internal(set) var connectionWait: Duration?
    /// The connection of the exchange; `nil` if the transport does not report it.
    public internal(set) var connection: PipelineExchange.Connection?
    /// Why the redirect that this exchange received was not followed; `nil` if it was followed or there was none.
    public internal(set) var refusedRedirect: RedirectPolicy.Refusal?
    /// Why a retry that the outcome called for did not take place; `nil` if it did or none was called for.
    ///
    /// A plugin that retries sets the reason with ``PipelineContext/noteRefusedRetry(_:of:)``.
    public internal(set) var refusedRetry: RetryRefusal?
    /// What plugins did in the attempt and hop of the exchange; see ``PipelineContext/annotate(_:by:duration:)``.
    public internal(set) var annotations: [PipelineContext.Annotation] = []
}

extension PipelineExchange {
    /// Why a failed attempt is not retried.
    public struct RetryRefusal: RawRepresentable, Sendable, Hashable {
        /// The name of the reason, as shown in descriptions.
        public let rawValue: String
        /// Makes a reason from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The server may have processed the request, and its method is not idempotent.
        public static let methodNotIdempotent = RetryRefusal(rawValue: "methodNotIdempotent")
        /// The body has been read and is not replayable.
        public static let bodyNotReplayable = RetryRefusal(rawValue: "bodyNotReplayable")
        /// The maximum number of attempts has been made.
        public static let attemptsUsedUp = RetryRefusal(rawValue: "attemptsUsedUp")
        /// The server asks for a longer wait than is allowed.
        public static let retryAfterTooLong = RetryRefusal(rawValue: "retryAfterTooLong")
        /// The call's deadline passes before the next attempt could begin.
        public static let deadline = RetryRefusal(rawValue: "deadline")
        /// Too many of the recent calls to this host were retried.
        public static let budget = RetryRefusal(rawValue: "budget")
        /// The network did not return within the time that a retry may wait for it.
        public static let offline = RetryRefusal(rawValue: "offline")
    }
}

extension PipelineExchange: SafelyDescribed {
    /// The request without its query, its outcome, the attempt, the redirect if it is one, the duration, the wait for a
    /// connection, and what plugins did.
    public var description: String {
        var text = "\(request), "
        let outcome = [statusCode.map { "status \($0)" }, failure?.rawValue].compactMap { $0 }
        text += outcome.isEmpty ? "no response" : outcome.joined(separator: ", ")
        text += ", attempt \(attempt)\(hop > 0 ? ", redirect \(hop)" : ""), \(duration.text)"
        if let connectionWait { text += ", of which \(connectionWait.text) waiting for a connection" }
        if let refusedRedirect { text += ", redirect not followed: \(refusedRedirect.rawValue)" }
        if let refusedRetry { text += ", not retried: \(refusedRetry.rawValue)" }
        for annotation in annotations { text += ", \(annotation)" }
        return text
    }
}
