/// A dictionary that shrinks when most of its values were removed, and knows how much memory it uses.
struct MemoryCacheTable<Key: Hashable, Value> {
    private var content: [Key: Value] = [:]

    /// The number of bytes of the table, without what keys and values refer to.
    var byteCount: Int { Self.byteCount(capacity: content.capacity) }

    /// How many bytes the table grows by if one more value is inserted; a full table doubles.
    var growthByteCount: Int {
        content.count < content.capacity ? 0 : Self.byteCount(capacity: max(4, content.capacity * 2)) - byteCount
    }

    subscript(key: Key) -> Value? {
        get { content[key] }
        set {
            content[key] = newValue
            if newValue == nil { shrink() }
        }
    }

    private mutating func shrink() {
        guard content.capacity > 64, content.count < content.capacity / 8 else { return }
        var copy = [Key: Value](minimumCapacity: content.count * 2)
        for (key, value) in content { copy[key] = value }
        content = copy
    }

    /// A dictionary fills up to three quarters of its buckets, each with a key, a value and a bit.
    private static func byteCount(capacity: Int) -> Int {
        capacity * 4 / 3 * (MemoryLayout<Key>.stride + MemoryLayout<Value>.stride) + capacity / 6
    }
}

extension MemoryCacheTable where Value == MemoryCacheLink {
    /// Returns the head of the ring for a key, a new one if there is none.
    mutating func head(of key: Key) -> MemoryCacheLink {
        if let head = self[key] { return head }
        let head = MemoryCacheLink()
        self[key] = head
        return head
    }
}
