import Foundation
import Synchronization

/// Ends a run of tests in which nothing happens, and names the tests that have begun and not ended.
///
/// It counts its own ticks instead of reading a clock. On a machine that is busy or that a debugger has stopped, the
/// ticks are slower, too.
package final class Watchdog: Sendable {
    /// The tests that run, and the ticks since the last of them began or ended.
    package struct State: Sendable {
        private var running: [Int: String] = [:]
        private var nextID = 0
        private var quietTicks = 0
        let limit: Int

        package init(limit: Int) { self.limit = limit }

        package mutating func begin(_ name: String) -> Int {
            nextID += 1
            running[nextID] = name
            quietTicks = 0
            return nextID
        }

        package mutating func end(_ id: Int) {
            running[id] = nil
            quietTicks = 0
        }

        /// Counts a tick; returns a report if no test has begun or ended for as many ticks as the limit.
        package mutating func tick() -> String? {
            quietTicks += 1
            guard quietTicks >= limit else { return nil }
            let names = running.sorted { $0.key < $1.key }.map { "\n    \($0.value)" }.joined()
            return "No test began or ended for \(limit) s. The run ends. "
                + (names.isEmpty ? "No test was running." : "These tests have begun and not ended:\(names)")
        }
    }

    /// The watchdog of this process: five minutes, in ticks of one second.
    package static let process = Watchdog(limit: 300, tick: .seconds(1), end: endProcess)

    /// Writes the report to standard error and ends the process with a failure.
    package static func endProcess(_ report: String) {
        FileHandle.standardError.write(Data("error: \(report)\n".utf8))
        // Not `exit`, whose handlers could wait for a thread that is blocked.
        _exit(EXIT_FAILURE)
    }

    private let state: Mutex<State>

    /// Creates a watchdog whose ticks the caller counts, with `tick()`.
    package init(limit: Int) {
        state = Mutex(State(limit: limit))
    }

    /// Creates a watchdog that counts its ticks on a thread of its own.
    ///
    /// - Parameters:
    ///   - limit: how many ticks without an event end the run.
    ///   - tick: the time between two ticks.
    ///   - end: receives the report, on the watchdog's thread; not called again.
    package convenience init(limit: Int, tick: Duration, end: @escaping @Sendable (String) -> Void) {
        self.init(limit: limit)
        // A thread, because tests can block all threads that run tasks.
        let thread = Thread { [weak self] in
            while true {
                Thread.sleep(forTimeInterval: tick / .seconds(1))
                guard let self else { return }
                if let report = self.tick() { return end(report) }
            }
        }
        thread.name = "watchdog"
        thread.start()
    }

    /// Counts a tick; returns a report if no test has begun or ended for as many ticks as the limit.
    package func tick() -> String? { state.withLock { $0.tick() } }

    /// Runs a test that is named in the report if it does not end.
    package func watch<Value>(
        _ name: String,
        _ test: () async throws -> Value
    ) async rethrows -> Value {
        let id = state.withLock { $0.begin(name) }
        defer { state.withLock { $0.end(id) } }
        return try await test()
    }
}
