extension String {
    /// Runs the closure over the string's UTF-8 bytes, in place where they are contiguous.
    @inlinable @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return try copy.withUTF8(body)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The offset of the first byte that the closure accepts, or the count.
    @inlinable @inline(__always)
    package func firstOffset(from start: Int = 0, where isWanted: (UInt8) -> Bool) -> Int {
        var offset = start
        while offset < count, !isWanted(self[offset]) { offset += 1 }
        return offset
    }
}
