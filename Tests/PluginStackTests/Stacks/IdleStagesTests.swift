import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("Idle stages of the standard stack", .tags(.concurrent), .watched)
struct IdleStagesTests {
    private let clock = ManualClock()

    private func provider(_ step: ScriptedTransport.Step) -> (ScriptedTransport, Provider<Ask>) {
        let transport = ScriptedTransport(always: step)
        return (
            transport,
            Provider(
                transport: transport,
                plugins: [.standard(.minimumDuration(.zero), logging: .off)],
                configuration: .init(clock: clock)
            )
        )
    }

    @Test("Plugins without a setting of their own declare the option that activates them")
    func declared() {
        #expect(MinimumDurationPlugin(.zero).idleStages == [.process: [.minimumDuration]])
        #expect(MinimumDurationPlugin(.seconds(1)).idleStages == [:])
        #expect(TimeoutPlugin(idle: .seconds(1)).idleStages == [.intercept: [.totalTimeout]])
        #expect(TimeoutPlugin(attempt: .seconds(1)).idleStages == [.intercept: [.totalTimeout]])
        #expect(TimeoutPlugin(total: .seconds(1)).idleStages == [.prepare: []])
        #expect(TimeoutPlugin(total: .seconds(1), idle: .seconds(1)).idleStages == [:])
        #expect(RetryPlugin().idleStages == [.prepare: [.idempotencyKey]])
        #expect(HedgingPlugin(after: .never).idleStages == [.intercept: [.hedging]])
        #expect(HedgingPlugin().idleStages == [:])
    }

    @Test("The option minimumDuration delays a call even if the plugin's minimum is zero")
    func minimumDuration() async throws {
        let (_, provider) = provider(.status(200))
        let start = clock.now
        let response = try await clock.run {
            try await provider.request(Ask(), options: .init { $0.minimumDuration = .seconds(2) })
        }
        #expect(response.statusCode == 200 && start.duration(to: clock.now) == .seconds(2))
        _ = try await provider.request(Ask())
        #expect(clock.sleeperCount == 0)
    }

    @Test("totalTimeout of a target or a call ends a call even if the plugin has no total", arguments: [true, false])
    func totalTimeout(isTarget: Bool) async throws {
        let (_, provider) = provider(.hang)
        let options = RequestOptions { $0.totalTimeout = .seconds(3) }
        let call = Task {
            try await provider.request(
                Ask(options: isTarget ? options : .init()),
                options: isTarget ? .init() : options
            )
        }
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        #expect(await call.pipelineError?.code == .timeout(.total))
    }

    @Test("idempotencyKey sets the field; a call without the option has none")
    func idempotencyKey() async throws {
        let (transport, provider) = provider(.status(200))
        _ = try await provider.request(Ask())
        _ = try await provider.request(Ask(), options: .init { $0.idempotencyKey = .generated })
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        #expect(transport.sent.map { $0.headers[name] != nil } == [false, true])
    }
}
