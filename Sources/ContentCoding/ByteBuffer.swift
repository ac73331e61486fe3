public import Foundation

/// Bytes that grow in place and become `Data` without a copy.
public struct ByteBuffer: ~Copyable {
    private var bytes: UnsafeMutableRawPointer
    private var capacity: Int
    /// The bytes in use.
    public var count = 0

    /// - Parameter capacity: the bytes for which there is room at first; at least one.
    public init(capacity: Int) {
        self.capacity = max(capacity, 1)
        bytes = Self.resize(nil, to: self.capacity)
    }

    deinit { free(bytes) }

    /// Room behind the bytes, at least one byte; made when there is none.
    public mutating func room(upTo limit: Int) -> UnsafeMutableRawBufferPointer {
        if count == capacity {
            capacity *= 2
            bytes = Self.resize(bytes, to: capacity)
        }
        return UnsafeMutableRawBufferPointer(start: bytes + count, count: min(capacity - count, limit))
    }

    /// All bytes; the buffer is not used again.
    public consuming func finish() -> Data {
        take(leaving: 1)
    }

    /// The bytes so far, of which few are copied and many are handed over; the buffer goes on with as much room.
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
