import Foundation
import Pipeline
import Synchronization

/// A server that delays one response in a hundred by a second.
///
/// The others take 15 ms and up to a spread. Which one of each hundred is delayed is random.
final class TailServer: Transport {
    let decodesContent = false
    private struct State {
        var seed: UInt64
        var count = 0
        var slowPosition = 0
        /// The requests in flight, by the number of their call.
        var inFlight: [Int: Int] = [:]
        var hedgeCount = 0

        /// A linear congruential generator; the upper bits are random enough.
        mutating func random(below limit: UInt64) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % limit)
        }

        mutating func delay(of call: Int, _ spread: UInt64) -> Duration {
            if count % 100 == 0 { slowPosition = random(below: 100) }
            defer { count += 1 }
            if inFlight[call, default: 0] > 0 { hedgeCount += 1 }
            inFlight[call, default: 0] += 1
            let usual = Duration.microseconds(15_000 + random(below: spread))
            return count % 100 == slowPosition ? usual + .seconds(1) : usual
        }
    }

    private let state: Mutex<State>
    /// In microseconds.
    private let spread: UInt64

    init(seed: UInt64, spread: Duration) {
        self.spread = UInt64(spread / .microseconds(1))
        state = Mutex(State(seed: seed))
    }

    var requestCount: Int { state.withLock { $0.count } }

    /// The number of requests that were not the first copy.
    var hedgeCount: Int { state.withLock(\.hedgeCount) }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let delay = state.withLock { $0.delay(of: context.callID, spread) }
        defer { state.withLock { $0.inFlight[context.callID, default: 0] -= 1 } }
        try await context.clock.sleep(for: delay)
        return PipelineResponse(request: request, statusCode: 200)
    }
}
