import Pipeline
import Synchronization
import TestSupport
import Testing

@Suite("Turns", .tags(.concurrent), .watched)
struct TurnsTests {
    private let turns = Turns<String>()

    private final class Count: Sendable {
        let inside = Atomic(0)
        let most = Atomic(0)
    }

    @Test("Only one task at a time has the turn for a key")
    func exclusive() async throws {
        let count = Count()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await turns.withTurn("a") {
                        let now = count.inside.add(1, ordering: .relaxed).newValue
                        _ = count.most.max(now, ordering: .relaxed)
                        await Task.yield()
                        count.inside.subtract(1, ordering: .relaxed)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(count.most.load(ordering: .relaxed) == 1)
    }

    @Test("Different keys do not wait for each other")
    func keys() async throws {
        let value = try await turns.withTurn("a") { try await turns.withTurn("b") { 1 } }
        #expect(value == 1)
    }

    @Test("Work that throws releases its turn")
    func throwing() async throws {
        await #expect(throws: CancellationError.self) { try await turns.withTurn("a") { throw CancellationError() } }
        #expect(try await turns.withTurn("a") { 2 } == 2)
    }

    @Test("A task cancelled while waiting stops waiting, and the next one gets its turn")
    func cancelled() async throws {
        try await turns.withTurn("a") {
            let waiting = Task { try await turns.withTurn("a") { Issue.record("it had a turn") } }
            await Task.yield()
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(try await turns.withTurn("a") { 3 } == 3)
    }

    @Test("A task cancelled before it asks gets no turn if it would have to wait")
    func cancelledBefore() async throws {
        try await turns.withTurn("a") {
            let waiting = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await turns.withTurn("a") { Issue.record("it had a turn") }
            }
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(try await turns.withTurn("a") { 4 } == 4)
    }
}
