import Synchronization

/// A list that several tasks add to.
final class Results<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    var all: [Value] { values.withLock(\.self) }

    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
