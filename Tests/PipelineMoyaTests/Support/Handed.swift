/// A value that is handed to another task.
struct Handed<Value>: @unchecked Sendable {
    let value: Value
}
