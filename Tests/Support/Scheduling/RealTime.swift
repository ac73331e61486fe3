package import Testing

/// Marks a suite whose tests use real time, sockets or other processes.
///
/// A bounded number of such suites run at once in the process. A suite gets its turn once, for all of its tests, which
/// run one after the other. Whatever it measures begins when its turn has come. A marked suite must not be nested in
/// another one; `scripts/check_style.py` checks that, and that suites with sockets are marked.
package struct RealTime: SuiteTrait, TestScoping {
    /// Whether the current task belongs to a suite that has its turn.
    @TaskLocal static var hasTurn = false

    package var isRecursive: Bool { false }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await TestSchedule.process.run(.realTimeSuite) {
            try await Self.$hasTurn.withValue(true) { try await function() }
        }
    }
}

extension Trait where Self == RealTime {
    /// Marks a suite that uses real time, sockets or other processes; use it with `.serialized`.
    package static var realTime: RealTime { RealTime() }
}
