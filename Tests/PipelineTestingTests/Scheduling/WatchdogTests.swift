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

    private final class Board: Sendable {
        private let state = Mutex(Watchdog.State(limit: 1))

        func begin(_ name: String) { _ = state.withLock { $0.begin(name) } }
        func tick() -> String? { state.withLock { $0.tick() } }
    }

    @Test("A suite that waits for its turn has not begun, so that no limit runs for it")
    func waiting() async {
        let schedule = TestSchedule(.init(testLimit: 1, suiteLimit: 1))
        let board = Board()
        let reports = await withTaskGroup { group in
            await schedule.run(.realTimeSuite) {
                group.addTask { await schedule.run(.realTimeSuite) { board.begin("second") } }
                await eventually { schedule.waitingCount == 1 }
                board.begin("first")
                return [board.tick(), board.tick()]
            }
        }
        #expect(reports.allSatisfy { $0?.contains("first") == true && $0?.contains("second") == false })
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
