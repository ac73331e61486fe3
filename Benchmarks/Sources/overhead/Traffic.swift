import Pipeline
import PipelineResilience

extension Overhead {
    /// Returns cases for the plugins of traffic control, which have nothing to do, and for five of them together.
    static func traffic() -> [Case] {
        let retry = RetryPlugin()
        let plugins: [any PluginType] = [
            FallbackPlugin { _ in nil },
            HedgingPlugin(budget: retry.budget),
            CircuitBreakerPlugin(),
            RateLimitPlugin(RateLimit(1_000_000_000, per: .seconds(1))),
            ConcurrencyLimitPlugin(.adaptive()),
            ChaosPlugin(),
        ]
        let five = plugins.filter { !($0 is HedgingPlugin) }
        return plugins.map { request("alone: \($0.name)", plugins: [$0]) } + [
            request("five traffic plugins", plugins: five),
            request("resilient stack", plugins: [PluginStack.standard(.resilient)]),
        ]
    }
}
