import HTTPTypes

/// One request handed to the transport, and what came of it.
public struct PipelineExchange: Sendable {
    /// The request as it was sent.
    public let request: PipelineRequest
    /// The status of the answer, `nil` when there was none.
    public internal(set) var statusCode: Int?
    /// How the exchange failed, `nil` when it did not.
    public internal(set) var failure: PipelineError.Code?
    /// Which attempt of the call this belongs to, from 1.
    public let attempt: Int
    /// Which redirect this follows, 0 for the first request of an attempt.
    public let hop: Int
    /// When the exchange began, counted from the start of the call.
    public let start: Duration
    /// How long it took: to the last byte of a buffered body, to the header fields of a streamed one.
    public internal(set) var duration = Duration.zero
    /// Why a redirect that this exchange answered was not followed; `nil` when it was, or when there was none.
    public internal(set) var refusedRedirect: RedirectPolicy.Refusal?
}
