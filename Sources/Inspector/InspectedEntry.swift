import PipelineCore
import PipelineRecording

/// An exchange as the inspector keeps it, without secrets.
struct InspectedEntry: Sendable {
    let id: PipelineContext.ExchangeID
    let attempt: Int
    let hop: Int
    /// Whether a recording responded.
    let isReplayed: Bool
    /// The time from the start of the call.
    let start: Duration
    var entry: HAREntry
    /// Why a body is not kept.
    let bodyNote: String?
    var refusedRetry: PipelineExchange.RetryRefusal?
    var refusedRedirect: RedirectPolicy.Refusal?

    init(_ exchange: PipelineExchange, _ entry: HAREntry, bodyNote: String?, isReplayed: Bool) {
        id = exchange.id
        attempt = exchange.attempt
        hop = exchange.hop
        start = exchange.start
        self.isReplayed = isReplayed
        self.entry = entry
        self.bodyNote = bodyNote
    }

    func json(inCall call: Int) -> JSONNode {
        var json = entry.json
        json["_pipeline"] = .object([
            "call": .integer(call),
            "attempt": .integer(attempt),
            "hop": .integer(hop),
            "replayed": isReplayed ? .bool(true) : nil,
            "bodyNote": bodyNote.map(JSONNode.string),
            "refusedRetry": refusedRetry.map { .string($0.rawValue) },
            "refusedRedirect": refusedRedirect.map { .string($0.rawValue) },
        ])
        return json
    }
}
