public import Foundation

/// A buffer that grows in place and becomes `Data` without a copy.
public struct ByteBuffer: ~Copyable {
    private var bytes: UnsafeMutableRawPointer
    private var capacity: Int
    /// The number of bytes in use.
    public var count = 0

    /// - Parameter capacity: the initial capacity in bytes, at least one.
    public init(capacity: Int) {
        self.capacity = max(capacity, 1)
        bytes = Self.resize(nil, to: self.capacity)
    }

    deinit { free(bytes) }

    /// Returns unused space after the bytes, at least one byte; grows the buffer if it is full.
    public mutating func room(upTo limit: Int) -> UnsafeMutableRawBufferPointer {
        if count == capacity {
            capacity *= 2
            bytes = Self.resize(bytes, to: capacity)
        }
        return UnsafeMutableRawBufferPointer(start: bytes + count, count: min(capacity - count, limit))
    }

    /// Returns all bytes and ends the use of the buffer.
    public consuming func finish() -> Data {
        take(leaving: 1)
    }

    /// Returns the bytes so far and empties the buffer, which keeps its capacity.
    ///
    /// Few bytes are copied, many are handed over.
    public mutating func takePiece() -> Data {
        guard count < capacity / 2 else { return take(leaving: capacity) }
        defer { count = 0 }
        return Data(bytes: bytes, count: count)
    }

    private mutating func take(leaving newCapacity: Int) -> Data {
        guard count > 0 else { return Data() }
        let isFull = count >= capacity - capacity / 8
        let data = Data(bytesNoCopy: isFull ? bytes : Self.resize(bytes, to: count), count: count, deallocator: .free)
        capacity = newCapacity
        count = 0
        bytes = Self.resize(nil, to: capacity)
        return data
    }

    private static func resize(_ bytes: UnsafeMutableRawPointer?, to byteCount: Int) -> UnsafeMutableRawPointer {
        guard let resized = realloc(bytes, byteCount) else { preconditionFailure("\(byteCount) bytes cannot be had") }
        return resized
    }
}
