/// A list of words that decides in which places a name is secret.
package struct SecretWords: Sendable {
    private let partWords: Set<String>
    private let longWords: [String]
    private let hasWholeNames: Bool

    private static let longWordLength = 5

    /// The words of ``Redactor/standardSecretNames``.
    package static let standard = SecretWords(Redactor.standardSecretNames)

    /// - Parameter words: the words; if they include one of the standard list, its names for certain places apply, too.
    package init(_ words: Set<String>) {
        let folded = Set(words.map(Self.folded)).subtracting([""])
        partWords = folded
        longWords = folded.filter { $0.utf8.count >= Self.longWordLength }
        hasWholeNames = !words.isDisjoint(with: Redactor.standardSecretNames)
    }

    /// Returns the places in which a name is secret.
    package func places(of name: String) -> SecretPlaces {
        let folded = Self.folded(name)
        if partWords.contains(folded) { return .all }
        if SecretPlaces.shownNames.contains(folded) || SecretPlaces.shownEndings.contains(where: folded.hasSuffix) {
            return []
        }
        if longWords.contains(where: { folded.contains($0) }) { return .all }
        let parts = Self.parts(of: name)
        if parts.contains(where: partWords.contains) { return .all }
        guard hasWholeNames else { return [] }
        let places = SecretPlaces.ofWholeNames[folded] ?? []
        return parts.contains(where: SecretPlaces.wordsInFields.contains) ? places.union(.field) : places
    }

    /// Returns the letters and digits of a name in lower case.
    private static func folded(_ name: String) -> String {
        String(name.lowercased().filter { $0.isLetter || $0.isNumber })
    }

    /// Returns the parts of a name: `cardPin[0]` has `card`, `pin` and `0`.
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
