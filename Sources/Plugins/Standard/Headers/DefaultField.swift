import Foundation
import HTTPTypes
import PipelineCore

/// A header field that `HeadersPlugin` adds, with all its values.
struct DefaultField: Sendable {
    let name: HTTPField.Name
    let lines: [HTTPField]
    let isSecret: Bool

    /// Groups fields by name, in the order in which each name first appears.
    static func all(in fields: HTTPFields, secret: Set<String>) -> [DefaultField] {
        let secret = Set(secret.map { $0.lowercased() })
        var seen: Set<HTTPField.Name> = []
        return fields.map(\.name).filter { seen.insert($0).inserted }.map { name in
            DefaultField(
                name: name,
                lines: Array(fields[fields: name]),
                isSecret: secret.contains(name.canonicalName) || Redactor.soundsSecret(name)
            )
        }
    }

    /// Makes fields the way a target's fields are made: sorted, and rejected if they cannot be sent.
    static func all(in fields: [String: String], secret: Set<String>) throws -> [DefaultField] {
        let request = try Endpoint(url: "https://localhost/", httpHeaderFields: fields).makeRequest()
        return all(in: request.headers, secret: secret)
    }

    /// Encodes the members of a value.
    ///
    /// `HTTPFields` and dictionaries of strings are used as they are, including commas.
    static func all(
        encoding value: some Encodable,
        dates: DateCodingStrategy.TextEncoding,
        secret: Set<String>
    ) throws -> [DefaultField] {
        if let fields = value as? HTTPFields { return all(in: fields, secret: secret) }
        if let fields = value as? [String: String] { return try all(in: fields, secret: secret) }
        if let fields = value as? [HTTPField.Name: String] {
            let named = fields.map { ($0.rawName, $1) }
            return try all(in: Dictionary(uniqueKeysWithValues: named), secret: secret)
        }
        let own = (type(of: value) as? any CustomDateEncodingStrategy.Type)?.dateEncodingStrategy
        let encoder = URLFormEncoder(
            arrayEncoding: .noBrackets,
            boolEncoding: .literal,
            dateEncoding: own?.textEncoding ?? dates
        )
        var members: [String: [String]] = [:]
        for pair in try encoder.encode(value).split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { $0.removingPercentEncoding ?? "" }
            members[sides[0], default: []].append(sides[1])
        }
        let fields = try members.map { name, elements in
            guard !name.contains("[") else { throw failure(name, "is a value in a value") }
            guard elements.count == 1 || !elements.contains(where: { $0.contains(",") }) else {
                throw failure(name, "has an element with a comma")
            }
            return (name, elements.joined(separator: ", "))
        }
        return try all(in: Dictionary(uniqueKeysWithValues: fields), secret: secret)
    }

    private static func failure(_ name: String, _ what: String) -> PipelineError {
        PipelineError(
            .encoding,
            "the member \(name.prefix(64).debugDescription) \(what), which no header field can hold"
        )
    }
}
