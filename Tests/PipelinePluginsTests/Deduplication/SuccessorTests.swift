import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("Successor", .watched)
struct SuccessorTests {
    private func ending() throws -> Successor.Ending {
        let request = try PipelineRequest(.get, url: "https://a.test/b")
        let key = try #require(InflightKey(request, at: Stage.Position()))
        let result = Result<PipelineResponse, any Error>.success(PipelineResponse(request: request, statusCode: 503))
        let clock = PipelineClock(ManualClock())
        let group = SharingGroup(key: key, result: result, depth: 0)
        return Successor.Ending(result: result, shared: Stage.SharedOutcome(endedAt: clock.now, attachment: group))
    }

    @Test("Results are kept while there is room and free their place when released")
    func room() throws {
        let room = ResultRoom(maximumCount: 1)
        let ending = try ending()
        do {
            let kept = Successor(exchange: 1, closeCount: 0, room: room)
            let refused = Successor(exchange: 2, closeCount: 0, room: room)
            kept.keep(ending)
            refused.keep(ending)
            #expect((kept.ending != nil, refused.ending != nil) == (true, false))
        }
        let next = Successor(exchange: 3, closeCount: 0, room: room)
        next.keep(ending)
        #expect(next.ending != nil)
    }

    @Test("All calls that share an outcome get the same random numbers and the same decision from each budget")
    func jointRetry() throws {
        let shared = try ending().shared
        let source = PipelineRandom.seeded(7)
        #expect(shared.random(from: source).next() == shared.random(from: source).next())
        let (one, other) = (Census(), Census())
        var count = 0
        for isAllowed in [false, true] {
            let decision = shared.decision(of: one) {
                count += 1
                return isAllowed
            }
            #expect(!decision)
        }
        #expect(shared.decision(of: other) { true })
        #expect(count == 1)
    }
}
