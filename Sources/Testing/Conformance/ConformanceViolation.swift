/// A rule that a plugin, a transport or a store violates, found by a conformance suite.
public struct ConformanceViolation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the check that failed.
    public let check: String
    /// A description of what was expected and what was found.
    public let message: String

    package init(check: String, message: String) {
        self.check = check
        self.message = message
    }

    /// The name of the check and the message.
    public var description: String { "\(check): \(message)" }
}
