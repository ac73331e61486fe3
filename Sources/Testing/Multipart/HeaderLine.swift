/// A header field line of a part; indices are offsets in the whole text.
struct HeaderLine {
    typealias Failure = MultipartReader.Failure

    let text: String
    let name: String
    /// The value, without spaces and tabs at either end.
    let value: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) throws {
        if let index = line.firstIndex(where: { ($0 < 0x20 && $0 != UInt8(ascii: "\t")) || $0 == 0x7f }) {
            throw Failure("a control character in a part's fields", at: index)
        }
        text = try FieldValue.text(of: line)
        let name = line.prefix { FieldValue.isTokenByte($0) }
        guard !name.isEmpty, line[name.endIndex...].first == UInt8(ascii: ":") else {
            throw Failure("a line of a part's header is not a header field", at: name.endIndex)
        }
        self.name = String(decoding: name, as: UTF8.self)
        let value = line[name.endIndex...].dropFirst().drop(while: Self.isBlank)
        self.value = value.lastIndex { !Self.isBlank($0) }.map { value[...$0] } ?? value.suffix(0)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
