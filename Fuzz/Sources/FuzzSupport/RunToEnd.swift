import Dispatch
import Synchronization

private let pending = Mutex<(@Sendable () async -> Void)?>(nil)
private let isDone = DispatchSemaphore(value: 0)

/// Runs an operation on another thread and waits for its end.
///
/// All that it holds is released when this returns. The task itself holds nothing, because it ends a moment later, and what it would
/// release then looks like a leak to the fuzzer.
public func runToEnd(_ operation: @escaping @Sendable () async -> Void) {
    pending.withLock { $0 = operation }
    Task {
        await runPending()
        isDone.signal()
    }
    isDone.wait()
}

private func runPending() async {
    let operation = pending.withLock { $0.take() }
    await operation?()
}
