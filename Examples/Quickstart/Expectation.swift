/// Something in the example that is not as it should be.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Ends the example when a condition does not hold.
func expect(_ condition: Bool, _ claim: String) throws {
    guard condition else { throw Unexpected("this does not hold: " + claim) }
}
