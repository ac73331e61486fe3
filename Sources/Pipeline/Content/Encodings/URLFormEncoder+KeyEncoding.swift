extension URLFormEncoder {
    /// How coding keys become names.
    ///
    /// The keys of dictionaries are data and stay as they are, as `JSONEncoder` leaves them.
    public struct KeyEncoding: Sendable {
        private enum Kind: Sendable {
            case defaultKeys
            case snakeCase
            case custom(@Sendable ([any CodingKey]) -> String)
        }

        private let kind: Kind

        /// The text of the key.
        public static let useDefaultKeys = KeyEncoding(kind: .defaultKeys)

        /// `perPage` becomes `per_page`, in the words that `JSONEncoder` finds: `pageURL` becomes `page_url`.
        public static let convertToSnakeCase = KeyEncoding(kind: .snakeCase)

        /// Names of your own, from the keys that lead to a value; the last one is the key to name.
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

        /// A capital begins a word, and so does the last of several capitals when a small letter follows it.
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
