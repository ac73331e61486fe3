/// The fuzzer's bytes, read as the values that a target needs.
///
/// Numbers are taken from the front, one byte each, and the rest is cut into texts. Bytes that are added at the end
/// therefore change only the last text.
public struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    /// Creates the input of one run from its bytes.
    public init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        rest = Array(UnsafeBufferPointer(start: start, count: count))[...]
    }

    /// Whether all bytes have been taken.
    public var isEmpty: Bool { rest.isEmpty }

    /// Returns the next byte as a number less than `limit`, or 0 at the end.
    public mutating func number(below limit: Int) -> Int {
        rest.popFirst().map { Int($0) % limit } ?? 0
    }

    /// Returns the next bytes.
    ///
    /// The byte before them determines their number, at most `limit`.
    public mutating func bytes(upTo limit: Int = 255) -> ArraySlice<UInt8> {
        let count = number(below: limit + 1)
        let bytes = rest.prefix(count)
        rest = rest.dropFirst(bytes.count)
        return bytes
    }

    /// Returns the next bytes as text, with invalid UTF-8 replaced.
    public mutating func text(upTo limit: Int = 255) -> String {
        String(decoding: bytes(upTo: limit), as: UTF8.self)
    }

    /// Returns all remaining bytes.
    public mutating func remainder() -> ArraySlice<UInt8> {
        defer { rest = [] }
        return rest
    }
}
