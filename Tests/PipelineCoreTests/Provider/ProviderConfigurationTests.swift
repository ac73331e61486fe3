import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("ProviderConfiguration", .watched)
struct ProviderConfigurationTests {
    @Test("The settings apply to every call, whether passed to the initializer or set later")
    func settings() async throws {
        let clock = ManualClock()
        var configuration = ProviderConfiguration(clock: clock, random: .seeded(1))
        configuration.limits = ProviderConfiguration.Limits(exchangeCount: 7)
        configuration.redirects = RedirectPolicy(maximumHopCount: 0)
        let exchangeCounts = Mutex<[Int]>([])
        let numbers = Mutex<[UInt64]>([])
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([.status(302, headers: [.location: "/next"]), .status(200)]),
            plugins: [
                .prepare { _, context in
                    exchangeCounts.withLock { $0.append(context.limits.exchangeCount) }
                    numbers.withLock { $0.append(context.random.next()) }
                    try await context.clock.sleep(for: .seconds(3))
                }
            ],
            configuration: configuration
        )
        let call = Task { try await provider.request(TestTarget()) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        await #expect(throws: PipelineError.self) { try await call.value }
        #expect(exchangeCounts.withLock { $0 } == [7])
        #expect(numbers.withLock { $0 } == [PipelineRandom.seeded(1).next()])
    }

    @Test("The default configuration has the standard redirect policy and limits, and no callback queue")
    func defaults() {
        let configuration = ProviderConfiguration()
        #expect(configuration.redirects.maximumHopCount == RedirectPolicy.standard.maximumHopCount)
        #expect(configuration.limits.exchangeCount == ProviderConfiguration.Limits().exchangeCount)
        #expect(configuration.callbackExecutor == nil)
    }
}
