import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineSigning
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Plugins.
enum PluginsSamples {
    typealias Shop = TargetsSamples.Shop

    struct AuditPlugin: Stage.WillSend {
        func willSend(_ request: PipelineRequest, context: PipelineContext) {}
    }

    static func provider(_ transport: any Transport, token: String) -> Provider<Shop> {
        // sample: parts
        let provider = Provider<Shop>(
            transport: transport,
            plugins: [.standard(.resilient, .cache()) { AccessTokenPlugin { _ in token } }]
        )
        // end
        return provider
    }

    /// The parts of the table, each in a stack.
    static func stacks(_ signer: SigningPlugin) -> [PluginStack] {
        let retry = RetryPlugin()
        return [
            .standard(.timeouts(TimeoutPlugin(attempt: .seconds(5), total: .seconds(20)))),
            .standard(.retries(RetryPlugin(maximumAttempts: 2))),
            .standard(.minimumDuration(.milliseconds(300))),
            .standard(.resilient),
            .standard(.resilient, .breaker(CircuitBreakerPlugin(failureRatio: 0.2))),
            .standard(.rateLimit(RateLimitPlugin(RateLimit(100, per: .seconds(1))))),
            .standard(.concurrencyLimit(ConcurrencyLimitPlugin(.fixed(50)))),
            .standard(.retries(retry), .hedging(HedgingPlugin(budget: retry.budget))),
            .standard(.fallback(FallbackPlugin { _ in nil })),
            .standard(.cache()),
            .standard(.cookies()),
            .standard(.signing(signer)),
            .standard(StandardPart([.deduplication: []])),
            .standard(StandardPart([.propagation: [AuditPlugin()]])),
        ]
    }
}

@Suite("The guide Plugins", .watched)
struct PluginsGuideTests {
    @Test("No stack of the guide has a finding")
    func findings() {
        let signer = SigningPlugin(account: { _ in "one" }, sign: { _, _ in })
        for stack in PluginsSamples.stacks(signer) {
            let provider = Provider<TargetsSamples.Shop>(transport: ScriptedTransport([]), plugins: [stack])
            #expect(provider.explain().findings == [], "\(provider.explain())")
        }
        #expect(PluginsSamples.provider(ScriptedTransport([]), token: "token").explain().findings == [])
    }
}
