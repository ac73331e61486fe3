import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// A network with a host that does not respond for a while, and one that always does.
private final class SilentServer: Transport {
    private struct State {
        var requestCounts: [String: Int] = [:]
        var firstSuccess: Duration?
    }

    static let dead = "https://dead.test"
    static let other = "https://other.test"

    let decodesContent = false

    private let clock: ManualClock
    private let silentUntil: Duration
    private let state = Mutex(State())

    init(_ clock: ManualClock, silentUntil: Duration) {
        self.clock = clock
        self.silentUntil = silentUntil
    }

    /// The moment of the first response of the dead host.
    var firstSuccess: Duration? { state.withLock { $0.firstSuccess } }

    func requestCount(of host: String) -> Int { state.withLock { $0.requestCounts[host, default: 0] } }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let host = request.host ?? ""
        state.withLock { $0.requestCounts[host, default: 0] += 1 }
        guard host == "dead.test" else {
            try await context.clock.sleep(for: .milliseconds(20))
            return PipelineResponse(request: request, statusCode: 200)
        }
        if clock.now.offset < silentUntil { try await context.clock.sleep(for: .seconds(86_400)) }
        let now = clock.now.offset
        state.withLock { state in
            if state.firstSuccess == nil { state.firstSuccess = now }
        }
        return PipelineResponse(request: request, statusCode: 200)
    }
}

/// Sends 20 calls per second to a host that is silent for 10 minutes, and 2 to another one, for 11 minutes.
private final class Outage: Sendable {
    struct Result {
        /// The requests that reached the dead host before it was back.
        var deadRequestCount = 0
        var refusedCount = 0
        /// The outcomes of calls to the dead host 8 s after it was back and later.
        var lateOutcomes: Set<String> = []
        var otherOutcomes: [String: Int] = [:]
        /// The moment of the first response of the dead host.
        var recovery: Duration?
    }

    static let end = Duration.seconds(600)
    static let attemptTimeout = Duration.seconds(2)
    static let callsPerSecond = 20
    static let callCount = 660 * callsPerSecond

    private let clock = ManualClock()
    private let server: SilentServer
    private let provider: Provider<Ask>
    private let result = Mutex(Result())

    init(_ plugin: any PluginType) {
        server = SilentServer(clock, silentUntil: Self.end)
        provider = Provider(
            transport: server,
            plugins: [TimeoutPlugin(attempt: Self.attemptTimeout), plugin],
            configuration: .init(clock: clock, random: .seeded(1))
        )
    }

    func run() async -> Result {
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Self.callCount {
                    for host in number % 10 == 0 ? [SilentServer.dead, SilentServer.other] : [SilentServer.dead] {
                        group.addTask { await self.call(host, at: .milliseconds(1_000 / Self.callsPerSecond * number)) }
                    }
                }
                group.addTask {
                    try? await self.clock.sleep(until: self.clock.origin.advanced(by: Self.end))
                    self.result.withLock { $0.deadRequestCount = self.server.requestCount(of: "dead.test") }
                }
            }
        }
        return result.withLock { result in
            result.recovery = server.firstSuccess
            return result
        }
    }

    private func call(_ host: String, at start: Duration) async {
        try? await clock.sleep(until: clock.origin.advanced(by: start))
        let outcome: String
        do {
            outcome = "\(try await provider.request(Ask(url: host)).statusCode)"
        } catch {
            outcome = (error as? PipelineError)?.code.rawValue ?? "\(error)"
        }
        result.withLock { result in
            if host == SilentServer.other {
                result.otherOutcomes[outcome, default: 0] += 1
            } else if start > Self.end + .seconds(8) {
                result.lateOutcomes.insert(outcome)
            } else if outcome == "circuitOpen" {
                result.refusedCount += 1
            }
        }
    }
}

@Suite("CircuitBreakerPlugin: a dead host", .watched)
struct CircuitBreakerDeadHostTests {
    private static let minimumCallCount = 100

    /// The calls of the window, those in flight when the circuit opens, and one probe for each break.
    private static let bound = minimumCallCount + Outage.callsPerSecond * 2 + 600 / 5

    @Test("A host that is silent for 10 minutes gets the requests of one window and the probes, and recovers at once")
    func deadHost() async throws {
        let result = await Outage(CircuitBreakerPlugin(minimumCallCount: Self.minimumCallCount)).run()
        #expect(result.deadRequestCount <= Self.bound)
        #expect(result.deadRequestCount > Self.minimumCallCount)
        #expect(result.refusedCount > 10_000)
        // A probe that began before the end of the outage takes 2 s to fail, and the break after it 5 s.
        let recovery = try #require(result.recovery)
        #expect(recovery - Outage.end <= .seconds(5) + Outage.attemptTimeout + .milliseconds(50))
        #expect(result.lateOutcomes == ["200"])
        #expect(result.otherOutcomes == ["200": Outage.callCount / 10])
    }

    @Test("Without the breaker, the silent host gets every request, so that the bound is exceeded")
    func withoutBreaker() async {
        let result = await Outage(PluginStack.exchange { request, _, send in try await send(request) }).run()
        #expect(result.deadRequestCount > 10 * Self.bound)
        #expect(result.refusedCount == 0)
        #expect(result.otherOutcomes == ["200": Outage.callCount / 10])
    }
}
