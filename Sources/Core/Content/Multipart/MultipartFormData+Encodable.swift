import Foundation

extension MultipartFormData {
    /// Creates a form from the members of a value, in the order in which they are encoded.
    ///
    /// | member | parts |
    /// |---|---|
    /// | ``FormFile`` | one with a file name and a Content-Type |
    /// | `Data` | one with the bytes, without a file name |
    /// | text, a number, `Bool`, `Date`, `URL`, `UUID` | one with the text that ``URLFormEncoder`` writes, not percent-encoded |
    /// | an array, a set | one for each element, named by the encoder: `a[]` |
    /// | a nested value, a dictionary | one for each member: `a[b]` |
    /// | an optional without a value, an empty collection | none |
    ///
    /// - Parameters:
    ///   - value: a value that encodes with keys.
    ///   - encoder: the settings for arrays, booleans, dates and keys.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/encoding``, as ``URLFormEncoder`` does.
    public init(encoding value: some Encodable, using encoder: URLFormEncoder = URLFormEncoder()) throws {
        let tree = try encoder.tree(of: value, keepsFiles: true)
        var parts = FormParts(arrays: encoder.arrayEncoding, booleans: encoder.boolEncoding)
        if case .object(let members) = tree {
            for member in members { parts.append(member.key, member.value) }
        }
        self.init(parts: parts.parts)
    }
}

/// The parts of a form while it is built.
private struct FormParts {
    let arrays: URLEncoding.ArrayEncoding
    let booleans: URLEncoding.BoolEncoding
    var parts: [MultipartFormBodyPart] = []

    init(arrays: URLEncoding.ArrayEncoding, booleans: URLEncoding.BoolEncoding) {
        self.arrays = arrays
        self.booleans = booleans
    }

    mutating func append(_ name: String, _ tree: ParameterTree) {
        switch tree {
        case .file(let file):
            parts.append(file.part(named: name))
        case .data(let bytes):
            parts.append(MultipartFormBodyPart(.bytes(bytes), name: name))
        case .array(let elements):
            for (index, element) in elements.enumerated() { append(arrays.name(name, index), element) }
        case .object(let members):
            for member in members { append("\(name)[\(member.key)]", member.value) }
        default:
            guard let text = tree.leafText(booleans: booleans) else { return }
            parts.append(MultipartFormBodyPart(.bytes(Data(text.utf8)), name: name))
        }
    }
}
