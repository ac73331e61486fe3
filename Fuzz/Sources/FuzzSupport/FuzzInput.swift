/// The fuzzer's bytes as the values that a target needs.
///
/// Numbers are taken from the front, one byte each; what is left is cut into texts. So bytes that are added at the end
/// change the last text and nothing else.
public struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    /// The bytes of one run.
    public init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        rest = Array(UnsafeBufferPointer(start: start, count: count))[...]
    }

    /// Whether all bytes are taken.
    public var isEmpty: Bool { rest.isEmpty }

    /// The next byte as a number less than `limit`, 0 at the end.
    public mutating func number(below limit: Int) -> Int {
        rest.popFirst().map { Int($0) % limit } ?? 0
    }

    /// The next bytes, as many as the byte before them says.
    public mutating func bytes(upTo limit: Int = 255) -> ArraySlice<UInt8> {
        let count = number(below: limit + 1)
        let bytes = rest.prefix(count)
        rest = rest.dropFirst(bytes.count)
        return bytes
    }

    /// The next bytes as text, what is no UTF-8 replaced.
    public mutating func text(upTo limit: Int = 255) -> String {
        String(decoding: bytes(upTo: limit), as: UTF8.self)
    }

    /// All that is left.
    public mutating func remainder() -> ArraySlice<UInt8> {
        defer { rest = [] }
        return rest
    }
}

/// Stops the program, which the fuzzer takes for a find.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(message())
}
