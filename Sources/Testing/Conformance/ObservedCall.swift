/// A call that runs in its own task and whose end can be awaited with a limit.
final class ObservedCall<Value: Sendable>: Sendable {
    enum Outcome: Sendable {
        case value(Value)
        case failure(any Error)
        case cancelled
        /// The call did not end; it was cancelled and abandoned.
        case hung

        var value: Value? {
            if case .value(let value) = self { value } else { nil }
        }

        /// The violations of a check that requires a call to succeed, or to end in any other way than cancellation.
        func violations(_ what: String, mayFail: Bool = false) -> [String] {
            switch self {
            case .value: []
            case .failure(let error): mayFail ? [] : ["\(what) failed: \(error)"]
            case .cancelled: ["\(what) ended as cancelled, although nothing cancelled it"]
            case .hung: ["\(what) did not end"]
            }
        }
    }

    private let result = WaitableValue<Outcome?>(nil)
    private let task: Task<Void, Never>

    init(_ work: @escaping @Sendable () async throws -> Value) {
        task = Task { [result] in
            let outcome: Outcome
            do {
                outcome = .value(try await work())
            } catch is CancellationError {
                outcome = .cancelled
            } catch {
                outcome = .failure(error)
            }
            result.update { $0 = outcome }
        }
    }

    var hasEnded: Bool { result.read { $0 != nil } }

    /// The outcome so far.
    var outcome: Outcome { result.read { $0 } ?? .hung }

    func cancel() {
        task.cancel()
    }
}

/// Waits with a limit.
enum Patience {
    private static let yieldCount = 200

    /// The number of rounds without progress before time moves; after the first 200, each takes 1 ms or more.
    ///
    /// A long move often reaches a time limit, and the task that is about to end that wait may only have been delayed
    /// by other tasks. So the rounds grow with the move: 10 s of virtual time take 300 ms, bounded by a part of the
    /// patience.
    private static func stillness(before move: Duration?, _ patience: Duration) -> Int {
        let longest = max(10, min(300, Int(patience / .milliseconds(4))))
        let needed = 10 + Int(min((move ?? .zero) / .milliseconds(33), 1_000))
        return yieldCount + min(longest, needed)
    }

    /// Waits until a condition holds, or until nothing has happened for long enough.
    ///
    /// The clock moves only when no task makes progress, and only to the next sleeper. Otherwise a plugin that is about
    /// to get its response could time out. The number of moves is limited because a task may sleep repeatedly.
    ///
    /// Of each round, only the first 5 ms count, so that a machine too busy to run the tasks does not end the wait.
    ///
    /// - Returns: the longest wait in which no task slept on the clock and after which there was progress: a wait for
    ///   something else, such as the real clock.
    @discardableResult
    static func wait(
        _ patience: Duration,
        moving clock: ManualClock?,
        maximumMoveCount: Int = 1_000,
        progress: () -> Int = { 0 },
        until condition: () -> Bool
    ) async -> Duration {
        var idle = 0
        var moves = 0
        var reached = progress()
        var last = ContinuousClock.now
        var waited = Duration.zero
        var (other, longestOther) = (Duration.zero, Duration.zero)
        func goOn() {
            (idle, waited) = (0, .zero)
            longestOther = max(longestOther, other)
            other = .zero
        }
        while !condition() {
            let round = min(last.duration(to: .now), .milliseconds(5))
            last = .now
            waited += round
            guard waited < patience else { return longestOther }
            if idle >= yieldCount, let clock, clock.sleeperCount == 0 { other += round }
            let present = progress()
            if present != reached {
                reached = present
                goOn()
            }
            if idle >= stillness(before: nil, patience), moves < maximumMoveCount, let clock,
                idle >= stillness(before: clock.timeToNextSleeper, patience), clock.advanceIfAnyoneSleeps()
            {
                moves += 1
                goOn()
            } else if idle < yieldCount {
                await Task.yield()
            } else {
                try? await ContinuousClock().sleep(for: .milliseconds(1))
            }
            idle += 1
        }
        return max(longestOther, other)
    }
}
