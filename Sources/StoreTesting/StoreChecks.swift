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

/// Runs a closure in concurrent tasks, and returns its results in no order.
func concurrently<Output: Sendable>(
    _ count: Int,
    _ work: @escaping @Sendable (_ index: Int) async throws -> Output
) async throws -> [Output] {
    try await withThrowingTaskGroup(of: Output.self) { group in
        for index in 0..<count { group.addTask { try await work(index) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}

/// Runs a closure in concurrent tasks that are cancelled, and returns the results of those that do not fail.
///
/// The first half is cancelled while it runs, the others before they begin.
func inCancelledTasks<Output: Sendable>(
    _ count: Int,
    _ work: @escaping @Sendable (_ index: Int) async throws -> Output
) async -> [Output] {
    await withTaskGroup(of: Output?.self) { group in
        for index in 0..<count {
            if index == count / 2 { group.cancelAll() }
            group.addTask { try? await work(index) }
        }
        return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
    }
}
