package import Dispatch
package import Testing

/// Waits until a condition holds, and records an issue if it does not.
///
/// The bound is a number of looks, one per millisecond, which is about a minute on an idle machine and longer on a busy
/// one. A condition that takes longer than a millisecond needs fewer looks.
package func eventually(
    looks: Int = 60_000,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async rethrows {
    var pauses = Pauses()
    while try await !condition() {
        guard pauses.count < looks else {
            Issue.record(
                "The condition did not hold within \(looks) looks, one per millisecond.",
                sourceLocation: sourceLocation
            )
            return
        }
        await pauses.next()
    }
}

extension DispatchSemaphore {
    /// Blocks the thread until the semaphore is signalled, and records an issue after four minutes, which is before the
    /// watchdog ends the run.
    package func waitForSignal(sourceLocation: SourceLocation = #_sourceLocation) {
        guard wait(timeout: .now() + 240) == .timedOut else { return }
        Issue.record("The semaphore was not signalled within 240 s.", sourceLocation: sourceLocation)
    }
}

/// The pauses of a polling loop: the first 199 only yield, and later ones last 1 ms.
///
/// Yielding without end would starve the work that the loop waits for.
package struct Pauses: Sendable {
    /// The number of pauses so far.
    package private(set) var count = 0

    package init() {}

    package mutating func next() async {
        count += 1
        if count < 200 { await Task.yield() } else { try? await ContinuousClock().sleep(for: .milliseconds(1)) }
    }
}
