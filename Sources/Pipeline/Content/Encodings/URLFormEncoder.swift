/// Encodes a value as `name=value` pairs, percent-encoded, for a query or a form body.
///
/// ```swift
/// struct ListQuery: Encodable {
///     var offset = 0
///     var limit = 100
/// }
/// try URLFormEncoder().encode(ListQuery())  // offset=0&limit=100
/// ```
///
/// Members come in the order in which the value encodes them, which for synthesized code is the order of its coding keys. A
/// dictionary has no order: its keys are sorted as text. So are a set's elements, numbers by value, and, by their keys,
/// dictionaries that encode as arrays because their keys are neither text nor integers.
///
/// | value | pairs before percent-encoding |
/// |---|---|
/// | a value in a value, a dictionary | `a[b]=1`, deeper `a[b][c]=1` |
/// | an array, a set | `a[]=1&a[]=2`, elements in their order |
/// | an optional without a value, `encodeNil`, an empty collection | nothing |
/// | `Bool` | `1`, `0` |
/// | a number | as short as it prints, a whole `Double` without a fraction |
/// | `Date` | `2001-09-09T01:46:40Z` |
/// | `Data` | base64 |
/// | `URL`, `UUID`, `Decimal` | their text |
///
/// The top has to be a value with keys, or a dictionary; an optional without a value gives an empty text. What a class writes
/// to a super encoder stands under `super`, or under the key it asked for. When two members get the same name, both appear.
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
/// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the coding path: a number or a date that is not finite, a date that its
/// encoding refused, nesting deeper than 64 levels, as a cycle of objects has, a place encoded in two ways. Also when the top
/// has no keys, and around any other error that the value throws.
///
/// Source: https://url.spec.whatwg.org/#application/x-www-form-urlencoded, with spaces as `%20`
public struct URLFormEncoder: Sendable {
    /// How the elements of an array are named.
    public var arrayEncoding: URLEncoding.ArrayEncoding
    /// How booleans are written.
    public var boolEncoding: URLEncoding.BoolEncoding
    /// How dates are written.
    public var dateEncoding: DateTextEncoding
    /// How coding keys become names.
    public var keyEncoding: KeyEncoding

    /// Makes an encoder.
    public init(
        arrayEncoding: URLEncoding.ArrayEncoding = .brackets,
        boolEncoding: URLEncoding.BoolEncoding = .numeric,
        dateEncoding: DateTextEncoding = .iso8601,
        keyEncoding: KeyEncoding = .useDefaultKeys
    ) {
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
    }

    /// The pairs of a value, without a leading question mark.
    public func encode(_ value: some Encodable) throws -> String {
        try tree(of: value, keepsFiles: false).formText(arrays: arrayEncoding, booleans: boolEncoding)
    }

    /// The members of a value, ``ParameterTree/null`` for an optional without one.
    func tree(of value: some Encodable, keepsFiles: Bool) throws -> ParameterTree {
        let tree: ParameterTree
        do {
            let run = TreeEncoder.Run(dates: dateEncoding, keys: keyEncoding, keepsFiles: keepsFiles)
            tree = try TreeEncoder.tree(of: value, run: run)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw PipelineError.encodingFailed(
                error,
                "a value of type \(type(of: value)) could not be encoded as a form"
            )
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
