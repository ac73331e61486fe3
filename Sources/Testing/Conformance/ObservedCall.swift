import Pipeline
import Synchronization

/// A call in a task of its own, whose end can be waited for with patience.
final class ObservedCall<Value: Sendable>: Sendable {
    enum Outcome: Sendable {
        case value(Value)
        case failure(any Error)
        case cancelled
        /// It did not end; it was cancelled and left behind.
        case hung
    }

    private final class Box: Sendable {
        let outcome = Mutex<Outcome?>(nil)
    }

    private let box = Box()
    private let task: Task<Void, Never>

    init(_ work: @escaping @Sendable () async throws -> Value) {
        task = Task { [box] in
            let outcome: Outcome
            do {
                outcome = .value(try await work())
            } catch is CancellationError {
                outcome = .cancelled
            } catch {
                outcome = .failure(error)
            }
            box.outcome.withLock { $0 = outcome }
        }
    }

    var hasEnded: Bool { box.outcome.withLock { $0 != nil } }

    func cancel() {
        task.cancel()
    }

    /// Waits for the end; with a clock, lets time pass for whoever waits for it while there is no progress.
    func end(
        moving clock: ManualClock? = nil,
        patience: Duration,
        progress: () -> Int = { 0 }
    ) async -> Outcome {
        await Patience.wait(patience, moving: clock, progress: progress) { hasEnded }
        let outcome = box.outcome.withLock { $0 }
        if outcome == nil { cancel() }
        return outcome ?? .hung
    }
}

/// Waiting that comes to an end.
enum Patience {
    private static let yieldCount = 200

    /// How many rounds, one of each ms after the first, without progress come before a move of time.
    ///
    /// More before a long one: it is that of a time limit which nothing has to do with, unless somebody who was about to end its
    /// wait is being kept from that. But no more than a part of the patience.
    private static func stillness(before move: Duration?, _ patience: Duration) -> Int {
        guard let move, move > .seconds(10) else { return yieldCount + 10 }
        return yieldCount + max(10, min(300, Int(patience / .milliseconds(4))))
    }

    /// Waits until a condition holds, or until nothing has happened for long enough.
    ///
    /// Time moves, to the next sleeper alone, when everybody has had the time to do what is to do at this moment: else it
    /// would run out for a plugin that is about to be answered. It moves only so often, for those who sleep again and again.
    static func wait(
        _ patience: Duration,
        moving clock: ManualClock?,
        maximumMoveCount: Int = 1_000,
        progress: () -> Int = { 0 },
        until condition: () -> Bool
    ) async {
        var idle = 0
        var moves = 0
        var reached = progress()
        var deadline = ContinuousClock.now + patience
        while !condition(), ContinuousClock.now < deadline {
            let present = progress()
            if present != reached {
                reached = present
                idle = 0
            }
            if idle >= stillness(before: nil, patience), moves < maximumMoveCount, let clock,
                idle >= stillness(before: clock.timeToNextSleeper, patience), clock.advanceIfAnyoneSleeps()
            {
                moves += 1
                idle = 0
                deadline = ContinuousClock.now + patience
            } else if idle < yieldCount {
                await Task.yield()
            } else {
                try? await ContinuousClock().sleep(for: .milliseconds(1))
            }
            idle += 1
        }
    }
}
