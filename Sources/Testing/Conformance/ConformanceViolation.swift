/// A rule that a plugin or a transport breaks, found by ``PluginConformance`` or ``TransportConformance``.
public struct ConformanceViolation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the check.
    public let check: String
    /// What was expected and what was found.
    public let message: String

    /// The name and the message.
    public var description: String { "\(check): \(message)" }
}
