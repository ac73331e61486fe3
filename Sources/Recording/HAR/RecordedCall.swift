package import PipelineCore

/// The place of an exchange in its call, and what the call had spent its time on when the exchange ended.
package struct RecordedCall: Sendable, Equatable {
    /// A part of the call's time.
    package struct Span: Sendable, Equatable {
        let id: Int
        let parentID: Int?
        var kind: String
        var name: String
        let start: Duration
        /// `nil` if the span had not ended.
        let duration: Duration?
        var outcome: String?

        package init(_ span: Timeline.Span) {
            id = span.id
            parentID = span.parentID
            kind = span.kind.rawValue
            name = span.name
            start = span.start
            duration = span.hasEnded ? span.duration : nil
            outcome = span.outcome
        }

        package var json: JSONNode {
            .object([
                "id": .integer(id),
                "parent": parentID.map(JSONNode.integer),
                "kind": .string(kind),
                "name": .string(name),
                "start": .milliseconds(start),
                "duration": duration.map(JSONNode.milliseconds),
                "outcome": outcome.map(JSONNode.string),
            ])
        }

        package func redacted(_ redaction: RecordingRedaction) -> Span {
            var span = self
            span.kind = redaction.values(in: kind)
            span.name = redaction.text(name)
            span.outcome = outcome.map(redaction.values)
            return span
        }
    }

    let id: Int
    let parentID: Int?
    let attempt: Int
    let hop: Int
    var spans: [Span]

    /// Returns `nil` if the call has no timeline.
    init?(_ context: PipelineContext) {
        guard let timeline = context.timeline else { return nil }
        id = context.callID
        parentID = context.parentID
        attempt = context.attempt
        hop = context.hop
        spans = timeline.spans.map(Span.init)
    }

    var json: JSONNode {
        .object([
            "call": .integer(id),
            "parentCall": parentID.map(JSONNode.integer),
            "attempt": .integer(attempt),
            "hop": .integer(hop),
            "spans": .array(spans.map(\.json)),
        ])
    }
}
