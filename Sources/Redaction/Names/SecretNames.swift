import Synchronization

/// A list of words that decides in which places a name is secret, and evaluates each name once.
///
/// A class, so that copies of a redactor share what is known.
package final class SecretNames: Sendable {
    private let partWords: Set<String>
    private let longWords: [String]
    private let hasWholeNames: Bool
    private let known = Mutex<[String: SecretPlaces]>([:])

    /// - Parameter words: the words; if they include one of the standard list, its names for certain places apply, too.
    package init(_ words: Set<String>) {
        let folded = Set(words.map(Self.folded)).subtracting([""])
        partWords = folded
        longWords = folded.filter { $0.utf8.count >= Self.longWordLength }
        hasWholeNames = !words.isDisjoint(with: Redactor.standardSecretNames)
    }

    /// Returns the places in which a name is secret.
    package func places(of name: String) -> SecretPlaces {
        if let places = known.withLock({ $0[name] }) { return places }
        let places = evaluatedPlaces(of: name)
        guard name.utf8.count <= Self.longestName else { return places }
        known.withLock { known in
            if known.count >= Self.maximumCount { known = [:] }
            known[name] = places
        }
        return places
    }

    /// Returns whether a name is secret in a place.
    func contains(_ name: String, in place: SecretPlaces) -> Bool { places(of: name).contains(place) }

    /// Returns whether one of the words of a text is a secret name.
    func contains(wordOf text: String) -> Bool {
        text.withBytes { bytes in
            bytes.split { !Self.isWordByte($0) }.contains {
                contains(String(decoding: $0, as: UTF8.self), in: .member)
            }
        }
    }

    /// ASCII letters and digits, `_` and `-`, which join parts of names, and all non-ASCII bytes.
    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte >= 0x80 || "_-".utf8.contains(byte)
    }

    // MARK: Words

    private func evaluatedPlaces(of name: String) -> SecretPlaces {
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

    private static let longWordLength = 5
    private static let longestName = 128
    private static let maximumCount = 4_096
}
