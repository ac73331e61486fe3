import PipelinePlugins
import Synchronization

/// A value that one task waits for; it may be set before the task waits.
final class TokenWaiter<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case filled(Value)
    }

    private let state = Mutex(State.empty)

    /// Sets the value unless there is one.
    ///
    /// - Returns: whether there was none.
    @discardableResult
    func fill(_ value: Value) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
            defer { if case .filled = state {} else { state = .filled(value) } }
            switch state {
            case .filled: return (false, nil)
            case .waiting(let continuation): return (true, continuation)
            case .empty: return (true, nil)
            }
        }
        continuation?.resume(returning: value)
        return isFirst
    }

    /// Waits for the value; must be called only once.
    ///
    /// - Parameter onCancel: runs when the waiting task is cancelled. The wait ends only when it sets a value.
    /// - Returns: the value.
    func value(onCancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    if case .filled(let value) = state { return value }
                    state = .waiting(continuation)
                    return nil
                }
                if let value { continuation.resume(returning: value) }
            }
        } onCancel: {
            onCancel()
        }
    }
}
