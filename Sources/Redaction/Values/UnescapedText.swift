/// A text whose escapes of one kind are resolved, and which maps each byte to its source.
struct UnescapedText {
    /// A way to write a byte or a character as several others.
    ///
    /// The raw value is the byte with which each of them begins.
    enum Escape: UInt8, CaseIterable {
        /// Escapes of JSON strings (RFC 8259 §7), and `\'`.
        case json = 0x5c
        /// Percent-encoding such as `%41` (RFC 3986 §2.1).
        case percent = 0x25
    }

    private(set) var bytes: [UInt8] = []
    /// The mapping to the source: from each offset until the next step, the bytes follow each other from `source` on.
    private var steps: [(offset: Int, source: Int)] = []

    /// Returns `nil` if the text contains no such escape.
    init?(_ source: UnsafeBufferPointer<UInt8>, resolving escape: Escape) {
        var index = source.firstOffset { $0 == escape.rawValue }
        guard index < source.count else { return nil }
        bytes.reserveCapacity(source.count)
        var copied = 0
        while index < source.count {
            if let length = appendUnit(escape, source, at: index, after: copied) {
                copied = index + length
                steps.append((bytes.count, copied))
                index = copied
            } else {
                index += 1
            }
            index = source.firstOffset(from: index) { $0 == escape.rawValue }
        }
        guard !steps.isEmpty else { return nil }
        bytes.append(contentsOf: source[copied...])
    }

    /// Returns the range of the source that corresponds to a range of bytes.
    func source(of range: Range<Int>) -> Range<Int> {
        source(of: range.lowerBound)..<source(of: range.upperBound)
    }

    private func source(of offset: Int) -> Int {
        var low = 0
        var high = steps.count
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? offset : steps[low - 1].source + offset - steps[low - 1].offset
    }

    // MARK: Units

    /// Appends the text before an escape and its resolved form; returns the length of the escape, or `nil` if it is
    /// invalid.
    private mutating func appendUnit(
        _ escape: Escape,
        _ source: UnsafeBufferPointer<UInt8>,
        at index: Int,
        after copied: Int
    ) -> Int? {
        switch escape {
        case .percent:
            guard index + 2 < source.count, let high = source[index + 1].hexDigit,
                let low = source[index + 2].hexDigit
            else { return nil }
            bytes.append(contentsOf: source[copied..<index])
            bytes.append(high << 4 | low)
            return 3
        case .json:
            guard let (scalar, length) = Self.scalar(source, at: index) else { return nil }
            bytes.append(contentsOf: source[copied..<index])
            bytes.append(contentsOf: Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter)
            return length
        }
    }

    private static func scalar(_ source: UnsafeBufferPointer<UInt8>, at index: Int) -> (Unicode.Scalar, Int)? {
        if index + 1 < source.count, source[index + 1] == UInt8(ascii: "'") { return ("'", 2) }
        var tokens = JSONTokens(source, at: index)
        return (try? tokens.readEscape()).map { ($0, tokens.index - index) }
    }
}
