package import Testing

/// Marks a suite whose tests use real time, sockets or other processes.
///
/// A bounded number of such suites run at once in the process. A suite gets its turn once, for all of its tests, which
/// run one after the other. Whatever it measures begins when its turn has come. A marked suite must not be nested in
/// another one; `scripts/check_style.py` checks that, and that suites with sockets are marked. Exit tests
/// (`#expect(processExitsWith:)`) need no mark, because they measure no time.
package struct RealTime: SuiteTrait, TestScoping {
    /// The turns of the tests in the suite that the current task belongs to; `nil` if it has not been marked.
    @TaskLocal static var turns: TestSchedule?

    /// The schedule that lets the suite begin; `nil` for that of the process.
    private let schedule: TestSchedule?

    package init(schedule: TestSchedule? = nil) { self.schedule = schedule }

    package var isRecursive: Bool { false }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        try await (schedule ?? .process).run(.realTimeSuite) {
            let turns = TestSchedule(TestSchedule.State(testLimit: 1, suiteLimit: 1))
            try await Self.$turns.withValue(turns) { try await function() }
        }
    }
}

extension Trait where Self == RealTime {
    /// Marks a suite that uses real time, sockets or other processes.
    package static var realTime: RealTime { RealTime() }
}
