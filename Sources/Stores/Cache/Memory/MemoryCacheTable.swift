/// A dictionary that shrinks when most of its values were removed, and knows how much memory it uses.
struct MemoryCacheTable<Key: Hashable, Value> {
    private var values: [Key: Value] = [:]

    /// The number of bytes of the table, without what keys and values refer to.
    var byteCount: Int { Self.byteCount(capacity: values.capacity) }

    /// The number of bytes that the table allocates if one more value is inserted.
    ///
    /// A full table doubles, and the former one is freed only after its values were copied.
    var growthByteCount: Int {
        values.count < values.capacity ? 0 : Self.byteCount(capacity: max(4, values.capacity * 2))
    }

    subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            values[key] = newValue
            if newValue == nil { shrink() }
        }
    }

    private mutating func shrink() {
        guard values.capacity > 64, values.count < values.capacity / 8 else { return }
        var copy = [Key: Value](minimumCapacity: values.count * 2)
        for (key, value) in values { copy[key] = value }
        values = copy
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
