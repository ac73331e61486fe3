import Synchronization

/// A value that one task waits for; it may be set before the task waits.
final class TokenWaiter<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case filled(Value)
    }

    private let state = Mutex(State.empty)

    /// Sets the value; must be called only once.
    func fill(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard case .waiting(let continuation) = state else {
                state = .filled(value)
                return nil
            }
            return continuation
        }
        continuation?.resume(returning: value)
    }

    /// Waits for the value; must be called only once.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state -> Value? in
                if case .filled(let value) = state { return value }
                state = .waiting(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
