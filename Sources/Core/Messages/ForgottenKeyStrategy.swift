import Foundation

/// Recognizes a missing member that the JSON has under its snake-case name.
enum ForgottenKeyStrategy {
    /// Returns a hint for the error of a missing member; empty if the snake-case name is missing as well, or the JSON
    /// has more than 1 MiB.
    ///
    /// - Parameters:
    ///   - key: the declared key that is missing from the JSON.
    ///   - path: the keys and indices from the root of the JSON to the object that lacks the member.
    ///   - data: the JSON.
    /// - Returns: the text to append to the error.
    static func hint(missing key: any CodingKey, at path: [any CodingKey], in data: Data) -> String {
        guard case .object(let members)? = ParameterTree(of: data, at: path),
            let name = members.first(where: { camelCased($0.key) == key.stringValue })?.key
        else { return "" }
        return "; the JSON has \(name.quotedExcerpt): set the decoder's keyDecodingStrategy to .convertFromSnakeCase"
    }

    /// Returns the name as `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase` converts it; `nil` if it is not in
    /// snake case.
    private static func camelCased(_ name: String) -> String? {
        guard let first = name.first, first != "_", name.last != "_" else { return nil }
        let words = name.split(separator: "_")
        guard words.count > 1 else { return nil }
        return words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
    }
}
