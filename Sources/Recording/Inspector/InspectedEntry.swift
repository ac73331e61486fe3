import Pipeline

/// An exchange as the inspector keeps it, without secrets.
struct InspectedEntry: Sendable {
    let id: PipelineContext.ExchangeID
    let attempt: Int
    let hop: Int
    var entry: HAREntry
    /// Why a body is not kept.
    let bodyNote: String?
    var refusedRetry: PipelineExchange.RetryRefusal?
    var refusedRedirect: RedirectPolicy.Refusal?

    init(_ exchange: PipelineExchange, _ entry: HAREntry, bodyNote: String?) {
        id = exchange.id
        attempt = exchange.attempt
        hop = exchange.hop
        self.entry = entry
        self.bodyNote = bodyNote
    }

    /// Whether two exchanges belong to the same attempt and hop.
    func isBeside(_ other: InspectedEntry) -> Bool { attempt == other.attempt && hop == other.hop }

    func json(inCall call: Int) -> JSONNode {
        var json = entry.json
        json["_pipeline"] = .object([
            "call": .integer(call),
            "attempt": .integer(attempt),
            "hop": .integer(hop),
            "bodyNote": bodyNote.map(JSONNode.string),
            "refusedRetry": refusedRetry.map { .string($0.rawValue) },
            "refusedRedirect": refusedRedirect.map { .string($0.rawValue) },
        ])
        return json
    }
}
