extension URLFormEncoder {
    /// A strategy for turning coding keys into names.
    ///
    /// Dictionary keys are data and stay unchanged, as in `JSONEncoder`.
    public struct KeyEncoding: Sendable {
        private enum Kind: Sendable {
            case defaultKeys
            case snakeCase
            case custom(@Sendable ([any CodingKey]) -> String)
        }

        private let kind: Kind

        /// Names that are the text of the key, unchanged.
        public static let useDefaultKeys = KeyEncoding(kind: .defaultKeys)

        /// Snake-case names, split into words as `JSONEncoder` does: `perPage` becomes `per_page`, `pageURL` becomes
        /// `page_url`.
        public static let convertToSnakeCase = KeyEncoding(kind: .snakeCase)

        /// Returns a strategy that calls a closure with the coding path of a value, whose last key is the one to name.
        public static func custom(_ makeName: @escaping @Sendable ([any CodingKey]) -> String) -> KeyEncoding {
            KeyEncoding(kind: .custom(makeName))
        }

        func name(of key: any CodingKey, after path: @autoclosure () -> [any CodingKey]) -> String {
            switch kind {
            case .defaultKeys: key.stringValue
            case .snakeCase: Self.snakeCase(key.stringValue)
            case .custom(let makeName): makeName(path() + [key])
            }
        }

        /// An uppercase letter starts a word, as does the last of several before a lowercase letter.
        private static func snakeCase(_ text: String) -> String {
            let letters = Array(text)
            var words: [ArraySlice<Character>] = []
            var start = 0
            var searchStart = 1
            while let capital = letters.dropFirst(searchStart).firstIndex(where: \.isUppercase) {
                words.append(letters[start..<capital])
                start = capital
                guard let small = letters[capital...].firstIndex(where: \.isLowercase) else { break }
                if small > capital + 1 {
                    words.append(letters[capital..<small - 1])
                    start = small - 1
                }
                searchStart = small + 1
            }
            words.append(letters[start...])
            return words.map { String($0).lowercased() }.joined(separator: "_")
        }
    }
}
