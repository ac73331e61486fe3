import Testing

/// Waits until a condition holds; records an issue when it does not within 500 seconds.
func eventually(sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool) async {
    let deadline = ContinuousClock.now + .seconds(500)
    var yieldCount = 0
    while !condition() {
        guard ContinuousClock.now < deadline else {
            Issue.record("the condition did not come to hold", sourceLocation: sourceLocation)
            return
        }
        yieldCount += 1
        if yieldCount < 200 { await Task.yield() } else { try? await ContinuousClock().sleep(for: .milliseconds(1)) }
    }
}
