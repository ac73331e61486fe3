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
        var parts: [MultipartFormBodyPart] = []
        try encoder.tree(of: value, keepsFiles: true).forEachLeaf(encoder.arrayEncoding) { name, leaf in
            switch leaf {
            case .file(let file): parts.append(file.part(named: name))
            case .data(let bytes): parts.append(MultipartFormBodyPart(.bytes(bytes), name: name))
            default:
                guard let text = leaf.leafText(booleans: encoder.boolEncoding) else { return }
                parts.append(MultipartFormBodyPart(.bytes(Data(text.utf8)), name: name))
            }
        }
        self.init(parts: parts)
    }
}
