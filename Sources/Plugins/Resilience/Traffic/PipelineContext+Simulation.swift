import PipelineCore

extension PipelineContext {
    /// Whether a plugin inside has simulated the outcome of this exchange, so that it counts like that of a server.
    var isSimulated: Bool { self[SimulatedExchanges.self].contains(exchangeID) }

    /// Records that the outcome of this exchange is simulated.
    func noteSimulation() {
        let id = exchangeID
        update(SimulatedExchanges.self) { _ = $0.insert(id) }
    }
}

private enum SimulatedExchanges: PipelineContext.Key {
    static let defaultValue: Set<PipelineContext.ExchangeID> = []
}
