extension PipelineContext {
    /// The origin of the request that entered this hop, before any exchange plugin changed it; `nil` in a pipeline without exchange plugins
    /// and outside exchanges.
    ///
    /// An exchange plugin that sets a credential compares it with the origin that the credential belongs to.
    public var hopOrigin: PipelineRequest.Origin? { hopEntry?.origin }

    /// Identifies an exchange among those of its call.
    public struct ExchangeID: Sendable, Hashable {
        let attempt: Int
        let hop: Int
        /// Which exchange of the hop it is.
        let number: Int
    }

    /// The same in ``Stage/WillSend`` and ``Stage/DidReceive`` of one exchange, and in its transport; different for each exchange of a call,
    /// also for those that run concurrently.
    public var exchangeID: ExchangeID { ExchangeID(attempt: attempt, hop: hop, number: exchangeNumber) }
}
