import Foundation
import PipelineCore

/// A secret value that is left outside of its own place in a recording.
struct LeftSecret {
    let value: String
    /// `nil` for a declared value.
    let origin: SecretOrigin?
    /// The entries that contain it, at most ``maximumCount``, and the first member that does.
    var places: [(entry: Int, member: String)] = []

    static let maximumCount = 10

    /// Whether the value mixes digits and letters, as generated secrets do.
    ///
    /// Others are more likely a setting or a text that a person has chosen.
    var looksGenerated: Bool {
        let text = (value.removingPercentEncoding ?? value).utf8
        return text.contains { (0x30...0x39).contains($0) }
            && text.contains { (0x41...0x5a).contains($0 & 0xdf) || $0 >= 0x80 }
    }

    /// The place that the value comes from, such as `the cookie "ui"`.
    func source(_ redaction: RecordingRedaction) -> String {
        guard let origin else { return "a declared secret value" }
        let kind =
            switch origin.kind {
            case .field: "header field"
            case .cookie: "cookie"
            case .query: "query item"
            case .form: "form field"
            }
        return "the value of the \(kind) \(redaction.values(in: String(origin.name)).quotedExcerpt)"
    }

    /// The entries and the first member, such as `entries 0, 3 (response.content.text)`; empty outside of the entries.
    var place: String {
        guard let first = places.first else { return "" }
        let numbers = places.map { "\($0.entry)" }.joined(separator: ", ")
        return "\(places.count == 1 ? "entry" : "entries") \(numbers) (\(first.member))"
    }

    /// Returns those of the values that the search finds, without searching for each alone.
    static func found(among values: [String], _ search: (Set<String>) -> Bool) -> [String] {
        guard !values.isEmpty, search(Set(values)) else { return [] }
        guard values.count > 1 else { return values }
        let half = values.count / 2
        return found(among: Array(values[..<half]), search) + found(among: Array(values[half...]), search)
    }
}

extension JSONNode {
    /// Returns the path of the first text, number or name that a closure accepts, such as `request.headers[0].value`.
    func path(where isFound: (String) -> Bool) -> String? {
        func joined(_ start: String, _ rest: String) -> String {
            rest.isEmpty || rest.hasPrefix("[") ? start + rest : "\(start).\(rest)"
        }
        switch self {
        case .null, .bool:
            return nil
        case .number(let text), .string(let text):
            return isFound(text) ? "" : nil
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let rest = element.path(where: isFound) { return joined("[\(index)]", rest) }
            }
        case .object(let members):
            for member in members {
                if isFound(member.name) { return "the name of a member" }
                if let rest = member.value.path(where: isFound) { return joined(member.name, rest) }
            }
        }
        return nil
    }
}
