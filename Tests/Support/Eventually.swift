package import Testing

/// Waits until a condition holds; records an issue when it does not within 500 s.
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

/// The pauses of a loop that waits for something: at first they only let others run, then they last 1 ms.
///
/// Many that only let others run would leave no time to those that they wait for.
package struct Pauses: Sendable {
    private var count = 0

    package init() {}

    package mutating func next() async {
        count += 1
        if count < 200 { await Task.yield() } else { try? await ContinuousClock().sleep(for: .milliseconds(1)) }
    }
}
