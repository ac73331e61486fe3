/// A rule that a plugin or a transport violates, found by ``PluginConformance`` or ``TransportConformance``.
public struct ConformanceViolation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the check that failed.
    public let check: String
    /// A description of what was expected and what was found.
    public let message: String

    /// The name of the check and the message.
    public var description: String { "\(check): \(message)" }
}
