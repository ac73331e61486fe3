/// A value on the heap, shared by its copies until one of them writes.
struct CopyOnWrite<Value: Sendable>: Sendable {
    // Guarded by uniqueness: `value` is written only through a reference that isKnownUniquelyReferenced, else to a copy.
    private final class Storage: @unchecked Sendable {
        // No dynamic check of exclusive access: the value of a copy on write has it from the variable that holds the storage.
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    init(_ value: Value) {
        storage = Storage(value)
    }

    var value: Value {
        // Inlined: a caller would allocate the frame of each accessor.
        @inline(__always) _read { yield storage.value }
        @inline(__always) _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}
