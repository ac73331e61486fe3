/// A rule that a plugin, a transport or a store violates, found by a conformance suite.
public struct ConformanceViolation: Sendable, Hashable, CustomStringConvertible {
    /// The name of the check that failed.
    public let check: String
    /// A description of what was expected and what was found.
    public let message: String

    /// The name of the check and the message.
    public var description: String { "\(check): \(message)" }
}

extension ConformanceViolation {
    /// Runs the checks of a store one after another, each with a new store, and returns the violations.
    static func found<Store: Sendable>(
        by checks: [(name: String, run: @Sendable (Store) async throws -> [String])],
        _ makeStore: @Sendable () async throws -> Store
    ) async -> [Self] {
        var violations: [Self] = []
        for check in checks {
            let messages: [String]
            do {
                messages = try await check.run(makeStore())
            } catch {
                messages = ["it failed: \(error)"]
            }
            violations += messages.map { Self(check: check.name, message: $0) }
        }
        return violations
    }
}
