import Pipeline
import Synchronization
import TestSupport
import Testing

@Suite("Which tests run at once", .tags(.concurrent), .watched)
struct TestScheduleTests {
    private final class Notes: Sendable {
        private let notes = Mutex<[String]>([])
        var all: [String] { notes.withLock { $0 } }
        func add(_ note: String) { notes.withLock { $0.append(note) } }
    }

    @Test("A bounded number of tests and of suites with real time run at once, and all of them run")
    func bounds() async {
        let schedule = TestSchedule(.init(testLimit: 3, suiteLimit: 2))
        let excesses = Notes()
        let done = Notes()
        await withTaskGroup { group in
            for index in 0..<200 {
                group.addTask {
                    await schedule.run(index % 5 == 0 ? .realTimeSuite : .test) {
                        let counts = schedule.counts
                        if counts.tests > 3 || counts.suites > 2 { excesses.add("\(counts)") }
                        await Task.yield()
                        done.add("\(index)")
                    }
                }
            }
        }
        #expect(done.all.count == 200)
        #expect(excesses.all.isEmpty)
        #expect(schedule.counts.tests == 0 && schedule.counts.suites == 0)
    }

    @Test("While a suite with real time runs or waits, one other test runs")
    func besideRealTime() {
        var state = TestSchedule.State(testLimit: 4, suiteLimit: 1)
        var begins = [
            state.begin(.test, hasWaitingSuite: false),
            state.begin(.realTimeSuite, hasWaitingSuite: false),
            state.begin(.test, hasWaitingSuite: false),
            state.begin(.realTimeSuite, hasWaitingSuite: false),
        ]
        #expect(begins == [true, true, false, false])
        state.end(.test)
        begins = [state.begin(.test, hasWaitingSuite: true), state.begin(.test, hasWaitingSuite: true)]
        #expect(begins == [true, false])
        state.end(.realTimeSuite)
        begins = [state.begin(.test, hasWaitingSuite: true), state.begin(.test, hasWaitingSuite: false)]
        #expect(begins == [false, true])
    }

    @Test("A suite with real time waits until another one ends, while other tests run one by one")
    func order() async {
        let schedule = TestSchedule(.init(testLimit: 1, suiteLimit: 1))
        let order = Notes()
        await withTaskGroup { group in
            await schedule.run(.realTimeSuite) {
                await schedule.run(.test) {
                    group.addTask { await schedule.run(.test) { order.add("test") } }
                    group.addTask { await schedule.run(.realTimeSuite) { order.add("suite") } }
                    await eventually { schedule.waitingCount == 2 }
                    #expect(order.all.isEmpty)
                }
                await eventually { order.all == ["test"] }
            }
        }
        #expect(order.all == ["test", "suite"])
    }

    @Test("The work's turn ends when it throws")
    func failure() async {
        let schedule = TestSchedule(.init(testLimit: 1, suiteLimit: 1))
        await #expect(throws: CancellationError.self) { try await schedule.run(.test) { throw CancellationError() } }
        #expect(schedule.counts.tests == 0 && schedule.counts.suites == 0)
    }
}

@Suite("The tests of a suite with real time", .realTime, .watched)
struct SerialTests {
    private static let running = Atomic(0)

    @Test("run one after the other, like the cases of a test", arguments: 0..<10)
    func serial(number: Int) async throws { try await Self.runAlone() }

    @Test("run one after the other, also if they are different tests")
    func other() async throws { try await Self.runAlone() }

    private static func runAlone() async throws {
        let before = running.add(1, ordering: .sequentiallyConsistent).oldValue
        #expect(before == 0)
        for _ in 0..<100 { await Task.yield() }
        running.subtract(1, ordering: .sequentiallyConsistent)
    }
}
