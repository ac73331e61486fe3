/// Decides in which places a name is secret, for a list of words.
package struct SecretWords: Sendable {
    private let partWords: Set<String>
    private let longWords: [String]
    private let hasWholeNames: Bool

    private static let longWordLength = 5

    /// The words of ``Redactor/standardSecretNames``.
    package static let standard = SecretWords(Redactor.standardSecretNames)

    /// - Parameter words: the words; with one of the standard list or more, its names for certain places count as well.
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

/// Decides which names are secret, and looks each name up once.
///
/// A class, so that what is nested in a text adds to the same names: copies would be as long as the text, for each.
final class SecretNames {
    private let words: SecretWords
    private var known: [String: SecretPlaces] = [:]

    init(_ words: Set<String>) { self.words = SecretWords(words) }

    /// Whether a name is secret in a place.
    func contains(_ name: String, in place: SecretPlaces) -> Bool {
        if let places = known[name] { return places.contains(place) }
        let places = words.places(of: name)
        known[name] = places
        return places.contains(place)
    }

    /// Whether one of the words of a text is a secret name.
    func contains(wordOf text: String) -> Bool {
        text.withBytes { bytes in
            bytes.split { !Self.isWordByte($0) }.contains {
                contains(String(decoding: $0, as: UTF8.self), in: .member)
            }
        }
    }

    /// Letters and digits of ASCII, what joins them in names, and all characters beyond.
    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x80...0xff, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
