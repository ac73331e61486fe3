/// An encoder that writes a value as percent-encoded `name=value` pairs, for a query or a form body.
///
/// ```swift
/// struct ListQuery: Encodable {
///     var offset = 0
///     var limit = 100
/// }
/// try URLFormEncoder().encode(ListQuery())  // offset=0&limit=100
/// ```
///
/// Members are written in the order in which the value encodes them. For synthesized code, that is the order of the
/// coding keys. Dictionaries have no order, so their keys are sorted as text. Dictionaries whose keys are neither text
/// nor integers encode as arrays, and are sorted by key. The elements of sets are sorted too. Such keys and elements
/// are sorted by value if they are numbers, and otherwise as text.
///
/// | value | pairs before percent-encoding |
/// |---|---|
/// | a nested value, a dictionary | `a[b]=1`, deeper `a[b][c]=1` |
/// | an array, a set | `a[]=1&a[]=2`, elements in order |
/// | an optional without a value, `encodeNil`, an empty collection | nothing |
/// | `Bool` | `1`, `0` |
/// | a number | the shortest text, a whole `Double` without a fraction |
/// | `Date` | `2001-09-09T01:46:40Z` |
/// | `Data` | base64 |
/// | `URL`, `UUID`, `Decimal` | their text |
///
/// The top-level value must encode with keys or be a dictionary; an optional without a value gives an empty text.
/// Members that a class writes to a super encoder are nested under `super`, or under the key that it requested. If two
/// members have the same name, both are written.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `arrayEncoding` | `.brackets` |
/// | `boolEncoding` | `.numeric` |
/// | `dateEncoding` | `.iso8601` |
/// | `keyEncoding` | `.useDefaultKeys` |
///
/// **Errors**: ``PipelineError/Code-swift.struct/encoding`` with the coding path:
/// - a number or a date that is not finite, or a date that its encoding rejects;
/// - nesting deeper than 64 levels, as in a cycle of objects;
/// - a place that is encoded in two ways.
///
/// The same code is used if the top-level value has no keys, and for any other error that the value throws.
///
/// Source: https://url.spec.whatwg.org/#application/x-www-form-urlencoded, with spaces as `%20`
public struct URLFormEncoder: Sendable {
    /// The names of array elements.
    public var arrayEncoding: URLEncoding.ArrayEncoding
    /// The text of booleans.
    public var boolEncoding: URLEncoding.BoolEncoding
    /// The encoding of dates; defaults to ISO 8601.
    public var dateEncoding: DateCodingStrategy.TextEncoding
    /// The strategy for turning coding keys into names.
    public var keyEncoding: KeyEncoding

    /// Creates an encoder; the table above lists the defaults.
    public init(
        arrayEncoding: URLEncoding.ArrayEncoding = .brackets,
        boolEncoding: URLEncoding.BoolEncoding = .numeric,
        dateEncoding: DateCodingStrategy.TextEncoding = .iso8601,
        keyEncoding: KeyEncoding = .useDefaultKeys
    ) {
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
    }

    /// Returns the pairs of a value, without a leading question mark.
    public func encode(_ value: some Encodable) throws -> String {
        try tree(of: value, keepsFiles: false).formText(arrays: arrayEncoding, booleans: boolEncoding)
    }

    /// Returns the members of a value; ``ParameterTree/null`` for an optional without a value.
    func tree(of value: some Encodable, keepsFiles: Bool) throws -> ParameterTree {
        let tree = try PipelineError.encoding("a value of type \(type(of: value)) could not be encoded as a form") {
            try TreeEncoder.tree(of: value, .init(dates: dateEncoding, keys: keyEncoding, keepsFiles: keepsFiles))
        }
        switch tree {
        case .null, .object:
            return tree
        default:
            throw PipelineError(
                .encoding,
                "a value of type \(type(of: value)) has no keys, and a form is made of names and values"
            )
        }
    }
}

extension URLFormEncoder {
    /// A strategy for turning coding keys into names.
    ///
    /// Dictionary keys are data and stay unchanged, as in `JSONEncoder`.
    public struct KeyEncoding: Sendable {
        /// Returns the name of a key; `path` makes the coding path of the value that has the key.
        let name: @Sendable (_ key: any CodingKey, _ path: () -> [any CodingKey]) -> String

        /// Names that are the text of the key, unchanged.
        public static let useDefaultKeys = KeyEncoding { key, _ in key.stringValue }

        /// Snake-case names, split into words as `JSONEncoder` does: `perPage` becomes `per_page`, `pageURL` becomes
        /// `page_url`.
        public static let convertToSnakeCase = KeyEncoding { key, _ in snakeCase(key.stringValue) }

        /// Returns a strategy that calls a closure with the coding path of a value, whose last key is the one to name.
        public static func custom(_ makeName: @escaping @Sendable ([any CodingKey]) -> String) -> KeyEncoding {
            KeyEncoding { key, path in makeName(path() + [key]) }
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
