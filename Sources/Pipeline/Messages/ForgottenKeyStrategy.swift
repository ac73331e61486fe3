import Foundation

/// Recognizes a missing member that is in the JSON under its name in snake case.
enum ForgottenKeyStrategy {
    /// Returns what to add to the error of a missing member; an empty text if its name in snake case is missing as well.
    ///
    /// - Parameters:
    ///   - key: the member that a type declares and the JSON does not have.
    ///   - path: the keys and indices from the top of the JSON to the object that should have the member.
    ///   - data: the JSON.
    /// - Returns: the text.
    static func hint(missing key: any CodingKey, at path: [any CodingKey], in data: Data) -> String {
        var tree = try? JSONDecoder().decode(JSONTree.self, from: data)
        for step in path { tree = tree?.child(step.intValue.map { "\($0)" } ?? step.stringValue[...]) }
        guard case .object(let members)? = tree,
            let name = members.keys.first(where: { camelCased($0) == key.stringValue })
        else { return "" }
        return "; the JSON has \(name.quotedExcerpt): set the decoder's keyDecodingStrategy to .convertFromSnakeCase"
    }

    /// The name as `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase` converts it; `nil` for a name that is not in snake
    /// case.
    private static func camelCased(_ name: String) -> String? {
        guard let first = name.first, first != "_", name.last != "_" else { return nil }
        let words = name.split(separator: "_")
        guard words.count > 1 else { return nil }
        return words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
    }
}
