import Foundation
import HTTPTypes
import PipelineCore
import PipelineRecording

/// A call as the inspector keeps it, without secrets.
struct InspectedCall: Sendable {
    /// The JSON texts of a call and of its exchanges.
    struct Texts: Sendable {
        let call: Data
        let entries: [Data]

        var byteCount: Int { entries.reduce(call.count) { $0 + $1.count } }

        /// Whether the texts contain a secret value.
        func contain(_ redaction: RecordingRedaction) -> Bool {
            redaction.containsSecret(in: call) || entries.contains { redaction.containsSecret(in: $0) }
        }

        /// Returns the texts without values that later calls have shown to be secret.
        func redacted(_ redaction: RecordingRedaction) -> Texts {
            func checked(_ text: Data) -> Data {
                guard redaction.containsSecret(in: text), let json = try? JSONParser.parse(text) else { return text }
                return redaction.entry(HAREntry(json: json)).json.data()
            }
            return Texts(call: checked(call), entries: entries.map(checked))
        }
    }

    /// The number of the call on the page; 0 until it is kept.
    var id = 0
    private let parentID: Int?
    private let target: String
    private let method: String
    private let url: String
    private let start: Date
    /// The exchanges that have ended.
    var entries: [InspectedEntry] = []
    /// What the caller got, if that is not the response of the last exchange.
    var response: JSONNode?
    /// Why `response` has no body.
    var bodyNote: String?
    var isJoined = false
    var source: String?
    var cacheStatus: String?
    private var outcome: InspectedOutcome?

    init(parentID: Int?, _ context: PipelineContext, _ redaction: RecordingRedaction) {
        self.parentID = parentID
        target = redaction.text(Self.name(of: context.target))
        method = redaction.text(context.endpoint.method.rawValue)
        url = redaction.url(context.endpoint.url)
        start = context.clock.date.addingTimeInterval(-(context.start.duration(to: context.clock.now) / .seconds(1)))
    }

    /// Returns the type of a target and, for an enum, its case without values; for a target that describes itself, such
    /// as an `APIRequest`, its method and path template if it has one.
    private static func name(of target: any TargetType) -> String {
        let type = "\(type(of: target))"
        // A description of its own may contain anything.
        if target is any CustomStringConvertible || target is any CustomDebugStringConvertible
            || target is any TextOutputStreamable || target is any CustomReflectable
        {
            return target.pathTemplate.map { "\(target.method) \($0)" } ?? type
        }
        let mirror = Mirror(reflecting: target)
        guard mirror.displayStyle == .enum else { return type }
        return "\(type).\(mirror.children.first?.label ?? "\(target)")"
    }

    /// Adds the outcome, and what it says about the exchanges.
    mutating func end(_ outcome: InspectedOutcome) {
        self.outcome = outcome
        for index in entries.indices { outcome.describe(&entries[index]) }
    }

    /// Releases what the texts contain.
    mutating func releaseParts() {
        entries = []
        response = nil
        outcome = nil
    }

    var texts: Texts {
        let entries = entries.map { $0.json(inCall: id).data() }
        return Texts(call: callJSON.data(), entries: entries)
    }

    private var callJSON: JSONNode {
        var response = response
        if let bodyNote { response?["content"]?["comment"] = .string(bodyNote) }
        return .object([
            "id": .integer(id),
            "parent": parentID.map(JSONNode.integer),
            "target": .string(target),
            "method": .string(method),
            "url": .string(url),
            "startedDateTime": .string(HARDate.text(start)),
            "duration": outcome.map { .milliseconds($0.duration) },
            "status": outcome?.statusCode.map(JSONNode.integer),
            "error": outcome?.error,
            "joined": isJoined ? .bool(true) : nil,
            "source": source.map(JSONNode.string),
            "cacheStatus": cacheStatus.map(JSONNode.string),
            "response": response,
            "notes": outcome.flatMap { $0.notes.isEmpty ? nil : .array($0.notes) },
            "spans": outcome?.spans,
            "droppedSpans": outcome.flatMap { $0.droppedSpanCount > 0 ? .integer($0.droppedSpanCount) : nil },
        ])
    }
}
