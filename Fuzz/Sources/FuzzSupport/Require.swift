/// Stops the program if the condition is false, which the fuzzer reports as a finding.
public func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(message())
}
