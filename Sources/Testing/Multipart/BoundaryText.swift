/// The syntax of a boundary (RFC 2046 §5.1.1).
enum BoundaryText {
    typealias Failure = MultipartReader.Failure

    /// Returns the boundary as text; indices are offsets in the whole text.
    static func check(_ bytes: ArraySlice<UInt8>) throws -> String {
        guard (1...70).contains(bytes.count) else {
            throw Failure("a boundary of \(bytes.count) bytes, not 1 to 70", at: bytes.startIndex)
        }
        if let index = bytes.firstIndex(where: { !characters.contains($0) }) {
            throw Failure("a character that no boundary has", at: index)
        }
        guard bytes.last != UInt8(ascii: " ") else {
            throw Failure("a boundary that ends in a space", at: bytes.endIndex - 1)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let characters = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'()+_,-./:=? ".utf8
    )
}
