import Pipeline
import PipelineTesting
import Synchronization

/// A simulated server as a transport on virtual time, with counts.
final class QueueingTransport: Transport {
    struct Counts: Sendable {
        var inFlight = 0
        var mostInFlight = 0
        var arrivalCount = 0
    }

    let decodesContent = false
    private let clock: ManualClock
    private let server: Mutex<QueueingServer>
    private let counts = Mutex(Counts())

    init(_ server: QueueingServer, on clock: ManualClock) {
        self.server = Mutex(server)
        self.clock = clock
    }

    var mostInFlight: Int { counts.withLock(\.mostInFlight) }
    var inFlight: Int { counts.withLock(\.inFlight) }
    var arrivalCount: Int { counts.withLock(\.arrivalCount) }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        counts.withLock { counts in
            counts.arrivalCount += 1
            counts.inFlight += 1
            counts.mostInFlight = max(counts.mostInFlight, counts.inFlight)
        }
        defer { counts.withLock { $0.inFlight -= 1 } }
        let now = clock.now.offset / .seconds(1)
        let end = server.withLock { $0.respond(at: now) }
        try await clock.sleep(for: .seconds(end - now))
        return PipelineResponse(request: request, statusCode: 200)
    }
}

/// Numbers calls in the order in which they begin.
final class CallCounter: Sendable {
    private let last = Mutex(0)

    func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
