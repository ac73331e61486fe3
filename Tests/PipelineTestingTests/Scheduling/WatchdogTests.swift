import Synchronization
import TestSupport
import Testing

@Suite("Watchdog of the tests", .realTime, .watched)
struct WatchdogTests {
    @Test("After as many ticks as the limit without an event, it names the tests that have not ended, in order")
    func report() throws {
        var state = Watchdog.State(limit: 3)
        let first = state.begin("“first” (A.swift:1)")
        _ = state.begin("“second” (A.swift:2)")
        _ = state.begin("“third” (A.swift:3)")
        state.end(first)
        let reports = [state.tick(), state.tick(), state.tick()]
        #expect(reports[0] == nil && reports[1] == nil)
        let report = try #require(reports[2])
        #expect(
            report == """
                No test began or ended for 3 s. The run ends. These tests have begun and not ended:
                    “second” (A.swift:2)
                    “third” (A.swift:3)
                """
        )
    }

    @Test("Each test that begins or ends starts the count again")
    func events() {
        var state = Watchdog.State(limit: 2)
        var reports = [state.tick()]
        let id = state.begin("a")
        reports.append(state.tick())
        state.end(id)
        reports.append(state.tick())
        #expect(reports == [nil, nil, nil])
        let report = state.tick()
        #expect(report?.hasSuffix("No test was running.") == true)
    }

    @Test("While a suite or a test waits for its turn, no limit runs for it", arguments: [true, false])
    func waiting(isSuite: Bool) async throws {
        let test = try #require(Test.current)
        let watchdog = Watchdog(limit: 1)
        let schedule = TestSchedule(.init(testLimit: 1, suiteLimit: 1))
        let (realTime, watched) = (RealTime(schedule: schedule), Watched(schedule: schedule, watchdog: watchdog))
        // Detached, so that the tasks do not belong to this suite, whose tests take turns.
        @Sendable func begin(_ body: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, any Error> {
            Task.detached {
                guard isSuite else { return try await watched.provideScope(for: test, testCase: nil, performing: body) }
                try await realTime.provideScope(for: test, testCase: nil) {
                    try await watched.provideScope(for: test, testCase: nil, performing: body)
                }
            }
        }
        let hasBegun = Atomic(0)
        let (gate, opening) = AsyncStream<Never>.makeStream()
        let first = begin {
            hasBegun.add(1, ordering: .sequentiallyConsistent)
            for await _ in gate {}
        }
        await eventually { hasBegun.load(ordering: .sequentiallyConsistent) == 1 }
        let second = begin { hasBegun.add(1, ordering: .sequentiallyConsistent) }
        await eventually { schedule.waitingCount == 1 }
        let report = try #require(watchdog.tick())
        #expect(report.split(separator: "\n").count == 2, "\(report)")
        #expect(hasBegun.load(ordering: .sequentiallyConsistent) == 1)
        opening.finish()
        try await first.value
        try await second.value
        #expect(hasBegun.load(ordering: .sequentiallyConsistent) == 2)
        #expect(watchdog.tick()?.hasSuffix("No test was running.") == true)
    }

    @Test("It ends a process in which a test does not end")
    func process() async {
        await #expect(processExitsWith: .failure) {
            let watchdog = Watchdog(limit: 5, tick: .milliseconds(1), end: Watchdog.endProcess)
            await watchdog.watch("does not end") {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
    }
}
