extension PipelineContext {
    /// The origin of the request that entered this hop, before any exchange plugin changed it; `nil` outside exchanges
    /// and in a pipeline without exchange plugins.
    ///
    /// Before an exchange plugin sets a credential, it compares this origin with the one that the credential belongs
    /// to.
    public var hopOrigin: PipelineRequest.Origin? { hopEntry?.origin }

    /// The identity of an exchange among those of its call.
    public struct ExchangeID: Sendable, Hashable {
        let attempt: Int
        let hop: Int
        /// The number of the exchange within its hop.
        let number: Int
    }

    /// The identity of the current exchange.
    ///
    /// It is the same in ``Stage/WillSend``, ``Stage/DidReceive`` and the transport of one exchange. It differs for
    /// each exchange of a call, even if they run concurrently.
    public var exchangeID: ExchangeID { ExchangeID(attempt: attempt, hop: hop, number: exchangeNumber) }
}
