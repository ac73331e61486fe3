import Synchronization

/// A count of calls in progress whose end can be awaited.
///
/// Every call writes the count. It has a cache line of its own, so that processors do not wait to read neighboring
/// data.
package final class CallsInProgress: Sendable {
    private typealias Padding = (Int, Int, Int, Int, Int, Int, Int)

    private struct Waiting {
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastNumber = 0
    }

    private let before: Padding = (0, 0, 0, 0, 0, 0, 0)
    /// Twice the number of calls, plus 1 if a task may wait: a call takes no lock to end unless it is the last one.
    private let count = Atomic(0)
    private let after: Padding = (0, 0, 0, 0, 0, 0, 0)
    private let waiting = Mutex(Waiting())

    var isEmpty: Bool { count.load(ordering: .acquiring) < 2 }

    /// Counts a call until the matching ``end()``.
    package func begin() {
        count.add(2, ordering: .acquiringAndReleasing)
    }

    package func end() {
        guard count.subtract(2, ordering: .acquiringAndReleasing).newValue == 1 else { return }
        let waiters = waiting.withLock { waiting in
            // A call may have begun meanwhile, whose end is awaited as well.
            guard count.compareExchange(expected: 1, desired: 0, ordering: .acquiringAndReleasing).exchanged
            else { return [CheckedContinuation<Void, Never>]() }
            defer { waiting.waiters = [:] }
            return Array(waiting.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until no call is left, or until the waiting task is cancelled.
    func drain() async {
        let number = waiting.withLock { waiting in
            waiting.lastNumber += 1
            return waiting.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = waiting.withLock { waiting in
                    guard count.bitwiseOr(1, ordering: .acquiringAndReleasing).newValue > 1, !Task.isCancelled
                    else { return true }
                    waiting.waiters[number] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            waiting.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}
