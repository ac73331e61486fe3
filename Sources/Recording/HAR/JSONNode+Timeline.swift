package import PipelineCore

extension JSONNode {
    /// Creates the object of a part of a call's time, which may contain secrets.
    package init(_ span: Timeline.Span) {
        self = .object([
            "id": .integer(span.id),
            "parent": span.parentID.map(JSONNode.integer),
            "kind": .string(span.kind.rawValue),
            "name": .string(span.name),
            "start": .milliseconds(span.start),
            "duration": span.hasEnded ? .milliseconds(span.duration) : nil,
            "outcome": span.outcome.map(JSONNode.string),
        ])
    }

    /// Creates the object of the place of an exchange in its call, and of what the call has spent its time on so far.
    ///
    /// Returns `nil` if the call has no timeline.
    init?(_ context: PipelineContext) {
        guard let timeline = context.timeline else { return nil }
        self = .object([
            "call": .integer(context.callID),
            "parentCall": context.parentID.map(JSONNode.integer),
            "attempt": .integer(context.attempt),
            "hop": .integer(context.hop),
            "spans": .array(timeline.spans.map { JSONNode($0) }),
        ])
    }
}
