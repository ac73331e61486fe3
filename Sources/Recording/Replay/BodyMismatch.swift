import Foundation
import HTTPTypes
import PipelineCore

/// The differences between the body of a request and that of an entry, both redacted.
struct BodyMismatch {
    let sent: MatchedRequest
    let recorded: MatchedRequest
    let form: RequestMatching.BodyForm
    /// The names that are not compared.
    let ignored: Set<String>
    let excerpts: Excerpts

    private static let maximumCount = 3
    private static let pathLength = 80

    /// For example `body differs at $.items[2].name (sent "a", recorded "b")`.
    var description: String { inJSON ?? inText }

    // MARK: JSON

    /// The first values that differ, each with its path; `nil` if a body is not compared as JSON, or if no value
    /// differs.
    private var inJSON: String? {
        guard let first = json(sent), let second = json(recorded) else { return nil }
        let all = JSONDifference(first, second, redactor: excerpts.hiding.redactor).items
        // A value that equals a redacted value is not the reason, unless no other value differs.
        let unlike = all.filter { !Self.isAlike($0) }
        let items = unlike.isEmpty ? all : unlike
        guard !items.isEmpty else { return nil }
        let rest = items.count - Self.maximumCount
        return "body differs " + items.prefix(Self.maximumCount).map(text).joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "")
    }

    private func json(_ request: MatchedRequest) -> JSONNode? {
        let isJSON = BodyValue.form(form, of: request.request.contentType) == .json
        guard isJSON, let body = request.request.body else { return nil }
        return BodyValue.json(body, ignoring: ignored, isSorted: false)
    }

    private static func isAlike(_ item: JSONDifference.Item) -> Bool {
        guard let first = item.first?.value.data(), let second = item.second?.value.data() else { return false }
        return RedactedPattern.areAlike(Array(first), Array(second), separators: Array("\"&<>\r\n".utf8))
    }

    private func text(_ item: JSONDifference.Item) -> String {
        let path = (item.path.count > Self.pathLength ? "…" : "") + item.path.suffix(Self.pathLength)
        guard let texts = excerpts.pair(Self.text(item.first), Self.text(item.second)) else {
            return "at \(path) in what is hidden"
        }
        return "at \(path) (sent \(texts.sent), recorded \(texts.recorded))"
    }

    private static func text(_ node: JSONDifference.Node?) -> Excerpts.Text {
        guard let node else { return .init("nothing", isQuoted: false) }
        if node.isSecret { return .init(RecordingRedaction.placeholder, isQuoted: false) }
        if case .string(let text) = node.value { return .init(text) }
        return .init(String(decoding: node.value.data(), as: UTF8.self), isQuoted: false)
    }

    // MARK: Other bodies

    private var inText: String {
        let bodies = [sent, recorded].map { $0.request.body ?? Data() }
        let values = [sent, recorded].map { $0.body(form, ignoring: ignored, isMeasured: false) }
        var shown = bodies.map { $0.isEmpty ? "none" : $0.count == 1 ? "1 byte" : "\($0.count) bytes" }
        if let first = String(validating: values[0], as: UTF8.self),
            let second = String(validating: values[1], as: UTF8.self)
        {
            guard let texts = excerpts.pair(.init(first), .init(second)) else {
                return "body differs in what is not shown"
            }
            if !bodies[0].isEmpty { shown[0] += " " + texts.sent }
            if !bodies[1].isEmpty { shown[1] += " " + texts.recorded }
        } else if !bodies.contains(where: \.isEmpty), bodies == values {
            shown[1] += ", from byte \(zip(bodies[0], bodies[1]).prefix { $0 == $1 }.count) on"
        }
        return "body differs (sent \(shown[0]), recorded \(shown[1]))"
    }
}
