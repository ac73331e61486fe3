import Foundation
import HTTPTypes
import Pipeline
import Synchronization

/// A server that delays one response in a hundred by a second.
///
/// The others take 15 to 25 ms. Which one of each hundred is delayed is random.
final class TailServer: Transport {
    let decodesContent = false
    private struct State {
        var seed: UInt64
        var count = 0
        var slowPosition = 0
        var copyNumbers: [Int] = []

        /// A linear congruential generator; the upper bits are random enough.
        mutating func random(below limit: UInt64) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % limit)
        }

        mutating func delay(of copyNumber: Int) -> Duration {
            if count % 100 == 0 { slowPosition = random(below: 100) }
            defer { count += 1 }
            copyNumbers.append(copyNumber)
            let usual = Duration.microseconds(15_000 + random(below: 10_000))
            return count % 100 == slowPosition ? usual + .seconds(1) : usual
        }
    }

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(seed: seed))
    }

    var requestCount: Int { state.withLock { $0.count } }

    /// The number of requests that were not the first copy.
    var hedgeCount: Int { state.withLock { $0.copyNumbers.count { $0 > 0 } } }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let delay = state.withLock { $0.delay(of: request.copyNumber) }
        try await context.clock.sleep(for: delay)
        return PipelineResponse(request: request, statusCode: 200)
    }
}
