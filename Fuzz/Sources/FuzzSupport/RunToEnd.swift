import Dispatch
import Synchronization

private let pending = Mutex<(@Sendable () async -> Void)?>(nil)
private let isDone = DispatchSemaphore(value: 0)

/// Runs an operation on another thread and waits until it ends.
///
/// Everything that the operation holds is released when this function returns. The task itself holds nothing, because
/// it ends slightly later, and anything it released then would look like a leak to the fuzzer.
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
