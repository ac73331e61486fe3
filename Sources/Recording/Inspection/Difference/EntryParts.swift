import Foundation
import HTTPTypes
import PipelineCore

/// The parts of an entry to compare: the exact value of each, and the text that may be shown.
struct EntryParts {
    private struct Value {
        let name: String
        let exact: Data
        let shown: String
        /// The text that may be shown, not cut.
        var whole = ""
        /// The body as a JSON value.
        var json: JSONNode?

        /// Returns the texts to show for two values that differ although ``shown`` is equal.
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
    private let redactor: Redactor
    private static let shownByteCount = 80
    private static let contextCharacterCount = 20

    init(_ entry: RecordedEntry, _ redactor: Redactor, _ ignored: Set<HTTPField.Name>) {
        self.redactor = redactor
        guard case .success(let exchange) = entry.result else {
            add("entry", "cannot be read")
            return
        }
        let request = exchange.request
        add(fields: request.headers, "request", ignored)
        add("request body", request.body, request.contentType)
        if let response = exchange.response {
            add("status", "\(response.status)")
            add("reason phrase", response.reasonPhrase)
            add(fields: response.headers, "response", ignored)
            add("response body", response.body, response.headers[.contentType])
        }
        add("HTTP version", exchange.httpVersion)
        if let failure = exchange.failure { add("failure", failure.code) }
    }

    private mutating func add(_ name: String, _ text: String) {
        values.append(Value(name: name, exact: Data(text.utf8), shown: RecordingTable.visible(text)))
    }

    private mutating func add(_ name: String, _ body: Data?, _ type: String?) {
        guard let body else { return }
        var value = value(name, body, type)
        let media = MediaType(type ?? "")
        // Larger bodies are not parsed for display either.
        if media.isJSON || media.essence.isEmpty, body.count <= redactor.parsedBodyByteCount {
            value.json = try? JSONParser.parse(body)
        }
        values.append(value)
    }

    private func value(_ name: String, _ body: Data, _ type: String?) -> Value {
        let text = redactor.bodyText(body, contentType: type, limit: Self.shownByteCount)
        let shown = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        let whole = redactor.bodyText(body, contentType: type, limit: max(body.count * 2, Self.shownByteCount))
        return Value(name: name, exact: body, shown: "\(body.count) bytes: \(shown)", whole: whole)
    }

    /// Adds the fields.
    ///
    /// The values of one name form one part, in order; the case of the name is ignored.
    private mutating func add(fields: HTTPFields, _ message: String, _ ignored: Set<HTTPField.Name>) {
        let shown = zip(fields, redactor.fields(fields)).filter { !ignored.contains($0.0.name) }
        var groups = Dictionary(grouping: shown) { $0.0.name.canonicalName }
        for name in shown.map(\.0.name.canonicalName) {
            guard let group = groups.removeValue(forKey: name) else { continue }
            values.append(
                Value(
                    name: "\(message) field \(name)",
                    exact: Data(group.map(\.0.value).joined(separator: "\n").utf8),
                    shown: group.map(\.1.value).joined(separator: ", ")
                )
            )
        }
    }

    /// Returns a line for each part that differs, in the order of this entry, followed by those that only the other
    /// entry has.
    func differences(from other: EntryParts) -> [String] {
        var lines: [String] = []
        for value in values {
            let match = other.values.first { $0.name == value.name }
            guard match?.exact != value.exact else { continue }
            let inJSON = match.map { differences(in: value, $0) } ?? []
            lines += inJSON.isEmpty ? [Self.line(value, match)] : inJSON
        }
        for value in other.values where !values.contains(where: { $0.name == value.name }) {
            lines.append(Self.line(nil, value))
        }
        return lines
    }

    /// Returns the line for two values that differ, at least one of which exists.
    private static func line(_ first: Value?, _ second: Value?) -> String {
        var texts = (first?.shown ?? "none", second?.shown ?? "none")
        if let first, let second, first.shown == second.shown { texts = first.apart(from: second) }
        return "\(first?.name ?? second?.name ?? ""): \(texts.0) → \(texts.1)"
    }

    /// Returns the values that differ in two JSON bodies.
    ///
    /// Empty if a body is not JSON, or if only the notation differs.
    private func differences(in first: Value, _ second: Value) -> [String] {
        guard let one = first.json, let other = second.json else { return [] }
        return JSONDifference(one, other, redactor: redactor).items.map { item in
            let name = "\(first.name) \(item.path)"
            return Self.line(item.first.map { value(name, $0) }, item.second.map { value(name, $0) })
        }
    }

    private func value(_ name: String, _ node: JSONDifference.Node) -> Value {
        let data = node.value.data()
        guard !node.isSecret else { return Value(name: name, exact: data, shown: SecretPlaceholder.shown.text) }
        func text(_ limit: Int) -> String { redactor.bodyText(data, contentType: "application/json", limit: limit) }
        return Value(name: name, exact: data, shown: text(Self.shownByteCount), whole: text(max(data.count * 2, 80)))
    }
}
