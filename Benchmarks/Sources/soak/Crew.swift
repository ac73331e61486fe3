import Foundation
import Pipeline
import Synchronization

/// A group of tasks that makes calls, a given number at a time.
struct Crew: Sendable {
    let client: Client
    let prediction: Prediction
    let url: URL
    let options: Options
    let watch: Watch

    /// Makes the calls of a range and waits for all of them.
    func run(_ indexes: Range<Int>) async -> Tally {
        let next = SharedCounter(indexes.lowerBound)
        return await withTaskGroup(of: Tally.self) { group in
            for _ in 0..<min(options.inFlightCount, indexes.count) {
                group.addTask {
                    var tally = Tally()
                    while let index = next.take(below: indexes.upperBound) { await run(index, &tally) }
                    return tally
                }
            }
            var tally = Tally()
            for await part in group { tally.add(part) }
            return tally
        }
    }

    private func run(_ index: Int, _ tally: inout Tally) async {
        let plan = Plan(seed: options.seed, index: index, cancelledShare: options.cancelledShare)
        let call = Call(plan: plan, baseURL: url, payload: prediction.payload)
        watch.begin(plan)
        let (found, cancelLatency) = await outcome(of: call)
        watch.end(plan)
        tally.add(found, to: plan, expected: prediction.outcome(of: plan), cancelLatency: cancelLatency)
    }

    /// Returns how the call ends.
    ///
    /// If it was cancelled before its end, also returns the time from then to the end.
    private func outcome(of call: Call) async -> (Outcome, Duration?) {
        guard let delay = call.plan.cancelDelay else { return (await client.outcome(of: call), nil) }
        let clock = ContinuousClock()
        let task = Task {
            let outcome = await client.outcome(of: call)
            return (outcome, clock.now)
        }
        try? await clock.sleep(for: delay)
        let moment = clock.now
        task.cancel()
        let (outcome, end) = await task.value
        return (outcome, end > moment ? moment.duration(to: end) : nil)
    }
}

/// A counter that returns each number once.
private final class SharedCounter: Sendable {
    private let next: Atomic<Int>

    init(_ first: Int) { next = Atomic(first) }

    func take(below bound: Int) -> Int? {
        let number = next.add(1, ordering: .relaxed).oldValue
        return number < bound ? number : nil
    }
}

/// A watchdog that knows the calls in flight, and ends the program if no call has ended for a long time.
final class Watch: Sendable {
    private struct State {
        var plans: [Int: Plan] = [:]
        var endCount = 0
    }

    private static let patience = Duration.seconds(90)
    private let state = Mutex(State())

    func begin(_ plan: Plan) { state.withLock { $0.plans[plan.index] = plan } }

    func end(_ plan: Plan) {
        state.withLock {
            $0.plans[plan.index] = nil
            $0.endCount += 1
        }
    }

    func start() -> Task<Void, Never> {
        Task {
            var last = -1
            while !Task.isCancelled {
                let (count, plans) = state.withLock { ($0.endCount, $0.plans.values.prefix(20)) }
                guard plans.isEmpty || count != last else {
                    for plan in plans {
                        print(
                            "no call has ended for \(Self.patience); in flight: call \(plan.index), \(plan.behaviour)"
                        )
                    }
                    exit(1)
                }
                last = count
                try? await Task.sleep(for: Self.patience)
            }
        }
    }
}
