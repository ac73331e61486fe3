import Foundation
import HTTPTypes
import Pipeline

/// An entry taken apart, to be compared: each part with what decides whether it is equal, and what is shown of it.
struct EntryParts {
    private struct Value {
        let name: String
        let exact: Data
        let shown: String
        /// All that may be shown of it.
        var whole = ""

        /// What to show of two values that differ where ``shown`` is equal.
        func apart(from other: Value) -> (String, String) {
            let hint = "the difference is in what is hidden"
            guard whole != other.whole else { return (shown, "\(other.shown) (\(hint))") }
            let start = zip(whole, other.whole).prefix { $0 == $1 }.count
            return (excerpt(from: start), other.excerpt(from: start))
        }

        private func excerpt(from start: Int) -> String {
            let begin = max(0, start - EntryParts.contextCharacterCount)
            let rest = whole.dropFirst(begin)
            let text = String(rest.prefix(EntryParts.shownByteCount)).debugDescription
            return "\(exact.count) bytes, from character \(begin): \(text)"
                + (rest.count > EntryParts.shownByteCount ? "…" : "")
        }
    }

    private var values: [Value] = []
    private static let shownByteCount = 80
    private static let contextCharacterCount = 20

    init(_ entry: RecordedEntry, _ redactor: Redactor, _ ignored: Set<HTTPField.Name>) {
        guard case .success(let exchange) = entry.result else {
            add("entry", "cannot be read")
            return
        }
        let request = exchange.request
        add(fields: request.headers, "request", redactor, ignored)
        add("request body", request.body, request.headers[.contentType], redactor)
        if let response = exchange.response {
            add("status", "\(response.status)")
            add("reason phrase", response.reasonPhrase)
            add(fields: response.headers, "response", redactor, ignored)
            add("response body", response.body, response.headers[.contentType], redactor)
        }
        add("HTTP version", exchange.httpVersion)
        if let failure = exchange.failure { add("failure", failure.code) }
    }

    private mutating func add(_ name: String, _ text: String) {
        values.append(Value(name: name, exact: Data(text.utf8), shown: RecordingTable.visible(text)))
    }

    private mutating func add(_ name: String, _ body: Data?, _ type: String?, _ redactor: Redactor) {
        guard let body else { return }
        let text = redactor.bodyText(body, contentType: type, limit: Self.shownByteCount)
        let shown = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        let whole = redactor.bodyText(body, contentType: type, limit: max(body.count * 2, Self.shownByteCount))
        values.append(Value(name: name, exact: body, shown: "\(body.count) bytes: \(shown)", whole: whole))
    }

    /// The values of one name are one part, in their order; the case of the name does not count.
    private mutating func add(
        fields: HTTPFields,
        _ message: String,
        _ redactor: Redactor,
        _ ignored: Set<HTTPField.Name>
    ) {
        let shown = redactor.fields(fields).map(\.value)
        var order: [String] = []
        var parts: [String: (exact: [String], shown: [String])] = [:]
        for (field, value) in zip(fields, shown) where !ignored.contains(field.name) {
            let name = field.name.canonicalName
            if parts[name] == nil { order.append(name) }
            parts[name, default: ([], [])].exact.append(field.value)
            parts[name, default: ([], [])].shown.append(value)
        }
        for name in order {
            guard let part = parts[name] else { continue }
            values.append(
                Value(
                    name: "\(message) field \(name)",
                    exact: Data(part.exact.joined(separator: "\n").utf8),
                    shown: part.shown.joined(separator: ", ")
                )
            )
        }
    }

    /// The parts that differ, in the order of this one, then those that only the other has.
    func differences(from other: EntryParts) -> [RecordingDifference.Part] {
        let missing = "none"
        var parts: [RecordingDifference.Part] = []
        for value in values {
            let match = other.values.first { $0.name == value.name }
            if let match, match.exact != value.exact, match.shown == value.shown {
                let (first, second) = value.apart(from: match)
                parts.append(.init(name: value.name, first: first, second: second))
            } else if match?.exact != value.exact {
                parts.append(.init(name: value.name, first: value.shown, second: match?.shown ?? missing))
            }
        }
        for value in other.values where !values.contains(where: { $0.name == value.name }) {
            parts.append(.init(name: value.name, first: missing, second: value.shown))
        }
        return parts
    }
}
