import HTTPTypes
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
        let convoy = Convoy(key: key, result: result, end: clock.now, depth: 0, earlierExchangeCount: 0)
        return Successor.Ending(result: result, convoy: convoy)
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

    @Test("All members of a convoy get the same random numbers and the same decision from each budget")
    func jointRetry() throws {
        let convoy = try ending().convoy
        let source = PipelineRandom.seeded(7)
        #expect(convoy.random(from: source).next() == convoy.random(from: source).next())
        let (one, other) = (Census(), Census())
        var count = 0
        for isAllowed in [false, true] {
            let decision = convoy.decision(of: ObjectIdentifier(one)) {
                count += 1
                return isAllowed
            }
            #expect(!decision)
        }
        #expect(convoy.decision(of: ObjectIdentifier(other)) { true })
        #expect(count == 1)
    }
}
