extension String {
    /// Calls the closure with the string's UTF-8 bytes, in place if they are contiguous.
    @inlinable @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return try copy.withUTF8(body)
    }
}

extension Substring {
    /// Returns the index of the first byte that equals another; faster than a search by characters or code units.
    func firstIndex(ofByte byte: UInt8) -> Index? {
        let offset = utf8.withContiguousStorageIfAvailable { $0.firstIndex(of: byte) }
        guard let offset else { return utf8.firstIndex(of: byte) }
        return offset.map { utf8.index(startIndex, offsetBy: $0) }
    }

    /// Calls the closure with each item between two separators; an item may be empty.
    func forEachItem(separatedBy separator: UInt8, _ body: (Substring) -> Void) {
        var rest = self
        while let end = rest.firstIndex(ofByte: separator) {
            body(rest[..<end])
            rest = rest[rest.utf8.index(after: end)...]
        }
        body(rest)
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { (0x30...0x39).contains(self) }

    /// Whether the byte is an ASCII letter or digit.
    var isAlphanumeric: Bool { isDigit || (0x61...0x7a).contains(self | 0x20) }

    /// Whether the byte is a space, a tab or a part of a line break.
    var isBlank: Bool { self == 0x20 || self == 0x0a || self == 0x0d || self == 0x09 }

    /// The value of a hexadecimal digit; `nil` for any other byte.
    var hexDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46, 0x61...0x66: (self | 0x20) - 0x57
        default: nil
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the offset of the first byte that the closure accepts, or the count.
    @inlinable @inline(__always)
    package func firstOffset(from start: Int = 0, where isWanted: (UInt8) -> Bool) -> Int {
        var offset = start
        while offset < count, !isWanted(self[offset]) { offset += 1 }
        return offset
    }
}
