/// A text whose escapes of one kind are resolved, and which maps each byte to its source.
struct UnescapedText {
    /// A way to write a byte or a character as several others.
    enum Escape: CaseIterable {
        /// Escapes of JSON strings (RFC 8259 §7), and `\'`.
        case json
        /// Percent-encoding such as `%41` (RFC 3986 §2.1).
        case percent

        var marker: UInt8 {
            switch self {
            case .json: UInt8(ascii: "\\")
            case .percent: UInt8(ascii: "%")
            }
        }
    }

    private(set) var bytes: [UInt8] = []
    /// The mapping to the source: from each offset until the next step, the bytes follow each other from `source` on.
    private var steps: [(offset: Int, source: Int)] = []

    /// Returns `nil` if the text contains no such escape.
    init?(_ source: UnsafeBufferPointer<UInt8>, resolving escape: Escape) {
        var index = source.firstOffset { $0 == escape.marker }
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
            index = source.firstOffset(from: index) { $0 == escape.marker }
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
            guard let byte = Self.number(source, index + 1, digits: 2) else { return nil }
            bytes.append(contentsOf: source[copied..<index])
            bytes.append(UInt8(truncatingIfNeeded: byte))
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

    private static func number(_ source: UnsafeBufferPointer<UInt8>, _ start: Int, digits: Int) -> UInt32? {
        guard start + digits <= source.count else { return nil }
        var result: UInt32 = 0
        for index in start..<start + digits {
            guard let digit = Character(Unicode.Scalar(source[index])).hexDigitValue else { return nil }
            result = result << 4 | UInt32(digit)
        }
        return result
    }
}
