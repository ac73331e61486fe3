import Pipeline
import PipelineAuth
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("HedgingPlugin: calls that share exchanges, tokens that are refreshed", .tags(.concurrent), .watched)
struct HedgingSharingTests {
    private let clock = ManualClock()
    private let deduplication = DeduplicationPlugin()

    private func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType]) -> Provider<Ask> {
        Provider(
            transport: transport,
            plugins: plugins + [CopyMark()],
            configuration: .init(clock: clock, random: .seeded(3))
        )
    }

    private func begin(_ provider: Provider<Ask>) -> [Task<PipelineResponse, any Error>] {
        (1...5).map { _ in Task { try await provider.request(Ask()) } }
    }

    /// Waits until the calls have come to rest, and advances the clock to the next event.
    private func advance(_ transport: ScriptedTransport, sent: Int, sleepers: Int, callers: Int) async throws {
        await eventually {
            transport.sent.count == sent && clock.sleeperCount == sleepers && deduplication.callerCount == callers
        }
        try await clock.advanceToNextSleeper()
    }

    @Test("Calls that share their exchanges share the copies as well, and retry together")
    func sharing() async throws {
        let transport = ScriptedTransport(always: .delayed(.seconds(1), .status(503)))
        let retry = RetryPlugin(maximumAttempts: 2, backoff: .exponential())
        let provider = provider(
            transport,
            [retry, HedgingPlugin(after: .fixed(.milliseconds(50)), budget: retry.budget), deduplication]
        )
        let calls = begin(provider)
        for sent in [0, 2] {
            // The first copy sleeps in the transport, and each call waits for its delay.
            try await advance(transport, sent: sent + 1, sleepers: 6, callers: 5)
            try await advance(transport, sent: sent + 2, sleepers: 2, callers: 10)
            try await advance(transport, sent: sent + 2, sleepers: 1, callers: 5)
            if sent == 0 { try await advance(transport, sent: 2, sleepers: 5, callers: 0) }
        }
        for call in calls { #expect(try await call.value.statusCode == 503) }
        #expect(transport.sent.map(\.copyNumber) == [0, 1, 0, 1])
    }

    @Test("A copy that ends after the winner does not part the calls that shared its response")
    func group() async throws {
        // The winner is a 505, which only the plugin outside retries.
        let transport = ScriptedTransport { request, _ in
            request.copyNumber == 0 ? .hang : .delayed(.milliseconds(10), .status(505))
        }
        let retry = RetryPlugin(
            maximumAttempts: 2,
            policy: RetryPolicy(statusCodes: [505]),
            backoff: .exponential()
        )
        let provider = provider(transport, [retry, HedgingPlugin(after: .fixed(.milliseconds(50))), deduplication])
        let calls = begin(provider)
        try await advance(transport, sent: 1, sleepers: 5, callers: 5)
        try await advance(transport, sent: 2, sleepers: 1, callers: 10)
        try await advance(transport, sent: 2, sleepers: 5, callers: 0)
        try await advance(transport, sent: 3, sleepers: 5, callers: 5)
        try await advance(transport, sent: 4, sleepers: 1, callers: 10)
        for call in calls { #expect(try await call.value.statusCode == 505) }
    }

    @Test("A token that both copies find refused is refreshed once")
    func refresh() async throws {
        let transport = ScriptedTransport { request, _ in
            guard request.headers[.authorization] == "Bearer old" else { return .status(200) }
            return .delayed(.milliseconds(request.copyNumber == 0 ? 110 : 60), .status(401))
        }
        let refreshes = Mutex(0)
        let token = TokenRefreshPlugin(credential: Session(accessToken: "old")) { _, _ in
            refreshes.withLock { $0 += 1 }
            return Session(accessToken: "new")
        }
        let provider = provider(transport, [HedgingPlugin(after: .fixed(.milliseconds(50))), token])
        let call = Task { try await provider.request(Ask(authorizationType: .bearer)) }
        try await advance(transport, sent: 1, sleepers: 2, callers: 0)
        try await advance(transport, sent: 2, sleepers: 2, callers: 0)
        #expect(try await call.value.statusCode == 200)
        #expect(refreshes.withLock { $0 } == 1)
    }
}
