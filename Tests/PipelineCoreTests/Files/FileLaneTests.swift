import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineCore

@Suite("FileLane", .tags(.concurrent), .realTime, .watched)
struct FileLaneTests {
    @Test("Operations run in order, one at a time")
    func order() async throws {
        let lane = FileLane()
        let entries = Journal()
        let running = Atomic(0)
        for number in 0..<100 {
            lane.add {
                let others = running.add(1, ordering: .relaxed).oldValue
                entries.add("\(number) \(others)")
                running.subtract(1, ordering: .relaxed)
            }
        }
        try await lane.run {}
        #expect(entries.entries == (0..<100).map { "\($0) 0" })
    }

    @Test("Stalled operations in more lanes than there are processors block no task")
    func stalled() async throws {
        let gate = DispatchSemaphore(value: 0)
        let begun = Tally()
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await FileLane().run {
                        begun.add()
                        gate.waitForSignal()
                        return number
                    }
                }
            }
            await eventually { begun.count == count }
            let others = await withTaskGroup(of: Int.self) { others in
                for _ in 0..<count { others.addTask { 1 } }
                return await others.reduce(0, +)
            }
            #expect(others == count)
            for _ in 0..<count { gate.signal() }
            let sum = try await group.reduce(0, +)
            #expect(sum == count * (count - 1) / 2)
        }
    }

    @Test("More stalled operations than threads block no task, and each runs when a thread is free")
    func threads() async throws {
        // Uses its own threads, because other tests use files too.
        let threads = FileThreads(maximumCount: 16)
        let gate = DispatchSemaphore(value: 0)
        let begun = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await FileLane(threads).run {
                        begun.add()
                        gate.waitForSignal()
                    }
                }
            }
            await eventually { begun.count == 16 }
            let isMain = await Task { @MainActor in true }.value
            #expect(isMain)
            for _ in 0..<50 { gate.signal() }
            try await group.waitForAll()
        }
        #expect(begun.count == 50)
    }

    /// A counter shared by closures.
    private final class Tally: Sendable {
        private let value = Atomic(0)
        var count: Int { value.load(ordering: .relaxed) }
        func add() { value.add(1, ordering: .relaxed) }
    }

    /// Calls a closure when it is released.
    private final class Token: Sendable {
        let release: @Sendable () -> Void
        init(release: @escaping @Sendable () -> Void) { self.release = release }
        deinit { release() }
    }

    @Test(
        "A cancelled caller returns at once; a running operation ends, its result is released, and others are skipped"
    )
    func cancelled() async throws {
        let lane = FileLane()
        let gate = DispatchSemaphore(value: 0)
        let entries = Journal()
        let first = Task {
            try await lane.run {
                entries.add("began")
                gate.waitForSignal()
                entries.add("ended")
                return Token { entries.add("released") }
            }
        }
        await eventually { entries.entries == ["began"] }
        let second = Task { try await lane.run { entries.add("second") } }
        first.cancel()
        second.cancel()
        await #expect(throws: CancellationError.self) { _ = try await first.value }
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(entries.entries == ["began"])
        gate.signal()
        try await lane.run {}
        #expect(entries.entries == ["began", "ended", "released"])
    }

    @Test("A cancelled task starts no operation, except one that must complete")
    func cancelledBefore() async throws {
        let lane = FileLane()
        let entries = Journal()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await lane.run { entries.add("run") } }
            try await lane.complete { entries.add("complete") }
        }
        try await task.value
        #expect(entries.entries == ["complete"])
    }

    @Test("An operation's error is thrown to its caller")
    func errors() async {
        let lane = FileLane()
        await #expect(throws: TestFailure.self) { try await lane.run { throw TestFailure() } }
        await #expect(throws: TestFailure.self) { try await lane.complete { throw TestFailure() } }
        #expect(throws: TestFailure.self) { try lane.runBlocking { throw TestFailure() } }
    }

    @Test("Settling waits for pending operations, even in a cancelled task, but not for a stalled disk")
    func settle() async {
        let lane = FileLane()
        let entries = Journal()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            lane.add { entries.add("done") }
            await lane.settle()
            #expect(entries.entries == ["done"])
        }.value
        let gate = DispatchSemaphore(value: 0)
        lane.add {
            gate.waitForSignal()
            entries.add("late")
        }
        await lane.settle()
        #expect(entries.entries == ["done"])
        gate.signal()
        try? lane.runBlocking {}
        #expect(entries.entries == ["done", "late"])
    }

    @Test("Settling waits for an operation added while another is released after its caller has resumed")
    func settleAfterRelease() async {
        final class File: Sendable {
            let lane: FileLane
            let entries: Journal

            init(_ lane: FileLane, _ entries: Journal) { (self.lane, self.entries) = (lane, entries) }

            deinit {
                lane.add { [entries] in
                    FileLaneTests.pause()
                    entries.add("closed")
                }
            }
        }
        let lane = FileLane()
        let entries = Journal()
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            let file = File(lane, entries)
            lane.add {
                continuation.resume()
                // Gives `settle` time to start; if the pause is too short, the test checks nothing but does not fail.
                Self.pause()
                withExtendedLifetime(file) {}
            }
        }
        await lane.settle()
        let found = entries.entries
        // On a busy machine `settle` may have timed out, so there is nothing to check.
        if start.duration(to: .now) < .milliseconds(100) { #expect(found == ["closed"]) }
    }

    private static func pause() {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(20))
    }
}
