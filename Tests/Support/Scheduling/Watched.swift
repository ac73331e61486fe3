package import Testing

/// Lets the tests of a suite begin in turn, and reports them to the watchdog.
///
/// Every suite has this trait; `scripts/check_style.py` checks that.
package struct Watched: SuiteTrait, TestTrait, TestScoping {
    /// The schedule that lets the tests of unmarked suites begin; `nil` for that of the process.
    private let schedule: TestSchedule?
    /// What learns when a test begins and ends; `nil` for the watchdog of the process.
    private let watchdog: Watchdog?

    package init(schedule: TestSchedule? = nil, watchdog: Watchdog? = nil) {
        self.schedule = schedule
        self.watchdog = watchdog
    }

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let location = test.sourceLocation
        let name = "“\(test.displayName ?? test.name)” (\(location.fileName):\(location.line))"
        try await (RealTime.turns ?? schedule ?? .process).run(.test) {
            try await (watchdog ?? .process).watch(name, function)
        }
    }
}

extension Trait where Self == Watched {
    /// Lets the tests begin in turn, and ends the run if none of them progresses.
    package static var watched: Watched { Watched() }
}
