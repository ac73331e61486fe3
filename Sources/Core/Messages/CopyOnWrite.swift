/// A value on the heap that copies share until one of them writes.
struct CopyOnWrite<Value: Sendable>: Sendable {
    // Guarded by uniqueness: `value` is written only if isKnownUniquelyReferenced holds; otherwise the storage is
    // copied first.
    private final class Storage: @unchecked Sendable {
        // No dynamic exclusivity check: the variable that holds the storage already enforces exclusive access.
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    init(_ value: Value) {
        storage = Storage(value)
    }

    var value: Value {
        // Inlined: otherwise the caller would allocate a frame for each accessor.
        @inline(__always) _read { yield storage.value }
        @inline(__always) _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}
