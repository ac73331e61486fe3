package import Testing

/// Waits until a condition holds, and records an issue if it does not.
///
/// The bound is a number of looks, one per millisecond, which is about a minute on an idle machine and longer on a busy
/// one.
package func eventually(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async rethrows {
    var pauses = Pauses()
    while try await !condition() {
        guard pauses.count < 60_000 else {
            Issue.record(
                "The condition did not hold within 60,000 looks, one per millisecond.",
                sourceLocation: sourceLocation
            )
            return
        }
        await pauses.next()
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
