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
