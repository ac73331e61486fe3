import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("The result of a hedged call", .watched)
struct HedgingRaceTests {
    typealias Ending = HedgingRace.Ending

    private func race(_ copyCount: Int) -> HedgingRace {
        var race = HedgingRace(maximumCopyCount: 3)
        for copy in 0..<copyCount { #expect(race.send() == copy) }
        return race
    }

    @Test("The first usable response wins at once, whichever copy brought it", arguments: [0, 1, 2])
    func usable(copy: Int) {
        var race = race(3)
        #expect(race.end(copy, .usable) == copy)
    }

    @Test(
        "A result that is not usable ends the call if no other copy is in flight",
        arguments: [
            Ending.unusable, .failure,
        ]
    )
    func alone(ending: Ending) {
        var race = race(1)
        #expect(race.end(0, ending) == 0)
    }

    @Test("A result that is not usable waits for the copies in flight", arguments: [Ending.unusable, .failure])
    func waiting(ending: Ending) {
        var race = race(2)
        #expect(race.end(0, ending) == nil)
        #expect(race.end(1, .usable) == 1)
    }

    @Test(
        "Without a usable response, a response is better than a failure, and then the first copy counts",
        arguments: [
            ([Ending.failure, .failure, .failure], 0), ([.failure, .unusable, .unusable], 1),
            ([.unusable, .failure, .unusable], 0), ([.failure, .failure, .unusable], 2),
        ]
    )
    func losing(endings: [Ending], best: Int) {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            var race = race(3)
            #expect(order.map { race.end($0, endings[$0]) } == [nil, nil, best])
        }
    }

    @Test("No more copies may be sent than the maximum")
    func maximum() {
        var race = race(2)
        #expect(race.maySend)
        _ = race.send()
        #expect(!race.maySend)
        #expect(race.copyCount == 3)
    }
}
