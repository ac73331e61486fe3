import PipelineTesting

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
