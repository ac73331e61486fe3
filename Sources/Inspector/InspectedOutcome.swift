import PipelineCore
import PipelineRecording

/// The outcome of a call as the inspector keeps it, without secrets.
struct InspectedOutcome: Sendable {
    let duration: Duration
    let statusCode: Int?
    /// A JSON object; `nil` for a success.
    let error: JSONNode?
    /// What plugins did to the call, as its log lines say it.
    let notes: [JSONNode]
    /// A JSON array; `nil` without a timeline.
    let spans: JSONNode?
    let droppedSpanCount: Int
    private let timeline: [Timeline.Span]
    private let exchanges: [PipelineExchange]

    init(_ outcome: Stage.Outcome, _ redaction: RecordingRedaction) {
        duration = outcome.duration
        statusCode = outcome.statusCode
        exchanges = outcome.exchanges
        notes = outcome.annotations.map { .string(redaction.text($0.description)) }
        timeline = outcome.timeline?.spans ?? []
        droppedSpanCount = outcome.timeline?.droppedSpanCount ?? 0
        error = outcome.error.map { error in
            .object([
                "code": .string(error.code.rawValue),
                "text": .string(redaction.text(error.reason)),
                "plugin": error.plugin.map { .string(redaction.text($0)) },
            ])
        }
        spans = outcome.timeline.map { redaction.json(.array($0.spans.map { JSONNode($0) })) }
    }

    /// Adds to an exchange what is known only when its call has ended.
    func describe(_ exchange: inout InspectedEntry) {
        if let ended = exchanges.last(where: { $0.id == exchange.id }) {
            exchange.refusedRetry = ended.refusedRetry
            exchange.refusedRedirect = ended.refusedRedirect
        }
        let wires = timeline.filter { span in
            span.kind == .wire && span.attempt == exchange.attempt && span.hop == exchange.hop
        }
        func distance(_ span: Timeline.Span) -> Duration {
            max(span.start - exchange.start, exchange.start - span.start)
        }
        guard let wire = wires.min(by: { distance($0) < distance($1) }) else { return }
        let phases = timeline.filter { $0.kind == .phase && $0.parentID == wire.id }
        guard !phases.isEmpty else { return }
        let received = phases.last { $0.name == "receive" }
        let head = received.map { $0.start - wire.start } ?? wire.duration
        exchange.entry.json["timings"] = RecordedTimings(phases).json(head: head, total: wire.duration)
        exchange.entry.json["time"] = .milliseconds(wire.duration)
    }
}

extension RecordedTimings {
    /// Returns the parts of an exchange as its timeline has them.
    init(_ phases: [Timeline.Span]) {
        func length(_ name: String) -> Duration? { phases.last { $0.name == name }?.duration }
        self.init()
        dns = length("DNS")
        ssl = length("TLS")
        connect = length("connect").map { $0 + (ssl ?? .zero) }
        blocked = length("connection").map { max($0 - (dns ?? .zero) - (connect ?? .zero), .zero) }
        send = length("send") ?? .zero
    }
}
