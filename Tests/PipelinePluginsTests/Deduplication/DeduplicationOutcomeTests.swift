import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("DeduplicationPlugin: outcomes of calls", .tags(.concurrent), .watched)
struct DeduplicationOutcomeTests {
    @Test(
        "Each call that shares an exchange reports its own outcome before the caller resumes",
        arguments: [true, false]
    )
    func outcomes(isInside: Bool) async throws {
        let ends = Mutex<[Int: (kind: Stage.Outcome.Kind, exchanges: Int)]>([:])
        let observer = PluginStack.didFinish { outcome, context in
            ends.withLock {
                #expect($0[context.callID] == nil)
                $0[context.callID] = (outcome.kind, outcome.exchanges.count)
            }
        }
        let bench = DeduplicationBench(outside: isInside ? [] : [observer], inside: isInside ? [observer] : [])
        let calls = await bench.begin(8)
        calls[3].cancel()
        _ = try? await calls[3].value
        #expect(ends.withLock { $0.values.map { $0.kind } } == [.cancelled])
        await bench.answer()
        for (index, call) in calls.enumerated() where index != 3 { _ = try await call.value }
        let found = ends.withLock { Array($0.values) }
        #expect(found.count == 8)
        #expect(found.count { $0.kind == .success } == 7)
        #expect(found.reduce(0) { $0 + $1.exchanges } == 1)
        #expect(bench.transport.sent.count == 1)
    }
}
