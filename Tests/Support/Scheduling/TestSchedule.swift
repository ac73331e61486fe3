import Foundation
import Synchronization

/// Decides which tests of a process run at once.
///
/// Swift Testing starts all tests at once. Without a limit, thousands of tasks share a few threads, and a test that
/// measures real time waits longer for a thread than for its server. A schedule lets a bounded number of tests begin,
/// and while suites that use real time run or wait, other tests run one at a time.
package final class TestSchedule: Sendable {
    /// What waits for its turn.
    package enum Work: Sendable {
        /// A case of a test in virtual time.
        case test
        /// A suite that uses real time, with all of its tests.
        case realTimeSuite
    }

    /// The limits and counts, without the tasks that wait.
    package struct State: Sendable {
        let testLimit: Int
        let suiteLimit: Int
        package private(set) var testCount = 0
        package private(set) var suiteCount = 0

        package init(testLimit: Int, suiteLimit: Int) {
            precondition(
                testLimit > 0 && suiteLimit > 0,
                "the limits are \(testLimit) and \(suiteLimit), not 1 or more"
            )
            self.testLimit = testLimit
            self.suiteLimit = suiteLimit
        }

        /// Begins work if it may run now, and returns whether it may.
        ///
        /// A waiting suite holds back tests in virtual time.
        package mutating func begin(_ work: Work, hasWaitingSuite: Bool) -> Bool {
            switch work {
            case .realTimeSuite:
                guard suiteCount < suiteLimit else { return false }
                suiteCount += 1
            case .test:
                guard testCount < (suiteCount > 0 || hasWaitingSuite ? 1 : testLimit) else { return false }
                testCount += 1
            }
            return true
        }

        package mutating func end(_ work: Work) {
            switch work {
            case .realTimeSuite: suiteCount -= 1
            case .test: testCount -= 1
            }
        }
    }

    private struct Queues {
        var state: State
        var tests = Queue()
        var suites = Queue()

        mutating func begin(_ work: Work) -> Bool { state.begin(work, hasWaitingSuite: !suites.isEmpty) }

        /// Begins all work that may run now, and returns its continuations.
        mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
            var ready: [CheckedContinuation<Void, Never>] = []
            while !suites.isEmpty, begin(.realTimeSuite) { suites.removeFirst().map { ready.append($0) } }
            while !tests.isEmpty, begin(.test) { tests.removeFirst().map { ready.append($0) } }
            return ready
        }
    }

    /// The tasks that wait, in the order in which they came.
    private struct Queue {
        private var entries: [CheckedContinuation<Void, Never>] = []
        private var next = 0

        var count: Int { entries.count - next }

        var isEmpty: Bool { count == 0 }

        mutating func append(_ continuation: CheckedContinuation<Void, Never>) { entries.append(continuation) }

        mutating func removeFirst() -> CheckedContinuation<Void, Never>? {
            guard !isEmpty else { return nil }
            defer { next += 1 }
            return entries[next]
        }
    }

    private let queues: Mutex<Queues>

    package init(_ state: State) {
        queues = Mutex(Queues(state: state))
    }

    /// How much work of each kind runs now.
    package var counts: (tests: Int, suites: Int) {
        queues.withLock { ($0.state.testCount, $0.state.suiteCount) }
    }

    /// How much work waits for its turn.
    package var waitingCount: Int { queues.withLock { $0.tests.count + $0.suites.count } }

    /// Waits for the work's turn, runs it, and lets the next work begin.
    package func run<Value>(
        _ work: Work,
        _ body: () async throws -> Value
    ) async rethrows -> Value {
        await begin(work)
        defer { end(work) }
        return try await body()
    }

    private func begin(_ work: Work) async {
        await withCheckedContinuation { continuation in
            let ready = queues.withLock { queues in
                switch work {
                case .test: queues.tests.append(continuation)
                case .realTimeSuite: queues.suites.append(continuation)
                }
                return queues.takeReady()
            }
            for continuation in ready { continuation.resume() }
        }
    }

    private func end(_ work: Work) {
        let ready = queues.withLock { queues in
            queues.state.end(work)
            return queues.takeReady()
        }
        for continuation in ready { continuation.resume() }
    }
}

extension TestSchedule {
    /// The schedule of this process.
    package static let process: TestSchedule = {
        let count = max(2, ProcessInfo.processInfo.activeProcessorCount)
        return TestSchedule(State(testLimit: 4 * count, suiteLimit: 2 * count))
    }()
}
