/// An error that reports an unexpected result in the example.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws an error that ends the example if a condition is false.
func expect(_ condition: Bool, _ claim: String) throws {
    guard condition else { throw Unexpected("expected that " + claim) }
}
