package import Testing

/// Waits until a condition holds, and records an issue if it does not within 500 s.
package func eventually(sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool) async {
    let deadline = ContinuousClock.now + .seconds(500)
    var pauses = Pauses()
    while !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("the condition did not come to hold", sourceLocation: sourceLocation)
            return
        }
        await pauses.next()
    }
}

/// The pauses of a polling loop: the first 199 only yield, and later ones last 1 ms.
///
/// Yielding without end would starve the work that the loop waits for.
package struct Pauses: Sendable {
    private var count = 0

    package init() {}

    package mutating func next() async {
        count += 1
        if count < 200 { await Task.yield() } else { try? await ContinuousClock().sleep(for: .milliseconds(1)) }
    }
}
