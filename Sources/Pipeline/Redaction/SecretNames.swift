/// Tells secret names from others, each name once.
struct SecretNames {
    private let partWords: Set<String>
    private let longWords: [String]
    private var known: [String: Bool] = [:]

    private static let longWordLength = 5

    init(_ words: Set<String>) {
        let folded = Set(words.map(Self.folded)).subtracting([""])
        partWords = folded
        longWords = folded.filter { $0.utf8.count >= Self.longWordLength }
    }

    /// Whether a name is secret.
    mutating func contains(_ name: String) -> Bool {
        if let answer = known[name] { return answer }
        let answer = Self.parts(of: name).contains { partWords.contains($0) } || hasLongWord(Self.folded(name))
        known[name] = answer
        return answer
    }

    /// Whether one of the words of a text is a secret name.
    mutating func contains(wordOf text: String) -> Bool {
        text.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "-" }.contains { contains(String($0)) }
    }

    private func hasLongWord(_ folded: String) -> Bool {
        partWords.contains(folded) || longWords.contains { folded.contains($0) }
    }

    /// Lower case, letters and digits only.
    private static func folded(_ name: String) -> String {
        String(name.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    /// `cardPin[0]` is `card`, `pin`, `0`.
    private static func parts(of name: String) -> [String] {
        var parts: [String] = [""]
        var wasLower = false
        for character in name {
            let isWord = character.isLetter || character.isNumber
            if !isWord || (wasLower && character.isUppercase) { parts.append("") }
            if isWord { parts[parts.count - 1] += character.lowercased() }
            wasLower = isWord && !character.isUppercase
        }
        return parts
    }
}
