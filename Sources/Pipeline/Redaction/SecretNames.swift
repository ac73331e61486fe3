/// Tells secret names from others, each name once.
///
/// A class, so that what is nested in a text adds to the same names: copies would be as long as the text, for each.
package final class SecretNames {
    private let partWords: Set<String>
    private let longWords: [String]
    private var known: [String: Bool] = [:]

    private static let longWordLength = 5

    package init(_ words: Set<String>) {
        let folded = Set(words.map(Self.folded)).subtracting([""])
        partWords = folded
        longWords = folded.filter { $0.utf8.count >= Self.longWordLength }
    }

    /// Whether a name is secret.
    package func contains(_ name: String) -> Bool {
        if let answer = known[name] { return answer }
        let answer = Self.parts(of: name).contains { partWords.contains($0) } || hasLongWord(Self.folded(name))
        known[name] = answer
        return answer
    }

    /// Whether one of the words of a text is a secret name.
    func contains(wordOf text: String) -> Bool {
        text.withBytes { bytes in
            bytes.split { !Self.isWordByte($0) }.contains { contains(String(decoding: $0, as: UTF8.self)) }
        }
    }

    /// Letters and digits of ASCII, what joins them in names, and all characters beyond.
    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x80...0xff, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
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
