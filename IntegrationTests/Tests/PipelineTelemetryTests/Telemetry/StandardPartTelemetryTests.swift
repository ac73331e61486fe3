#if Telemetry
import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineSigning
import PipelineTelemetry
import PipelineTesting
import TestSupport
import Testing

@Suite("StandardPart, with telemetry", .watched)
struct StandardPartTelemetryTests {
    /// Returns all orders of a list.
    private static func orders<Element>(of elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
    }

    @Test(
        "All orders of token, cookies, cache, resilience, signature and telemetry make the same stack, without a finding"
    )
    func orders() throws {
        let key = try MessageSigningKey(rawRepresentation: Data("secret".utf8), algorithm: .hmacSHA256)
        let signer = MessageSigner(components: [.method, .targetURI], key: key, keyID: "one")
        let parts: [StandardPart] = [
            StandardPart([.credentials: [AccessTokenPlugin { _ in "token" }]]), .cookies(), .cache(), .resilient,
            .signing(SigningPlugin(signer)), .telemetry,
        ]
        let orders = Self.orders(of: parts)
        #expect(orders.count == 720)
        for part in orders {
            let stack = PluginStack.standard(part[0], part[1], part[2], part[3], part[4], part[5])
            #expect(
                stack.plugins.map(\.name) == [
                    "TracingPlugin", "MetricsPlugin", "LoggingPlugin", "TimeoutPlugin", "RequestIDPlugin",
                    "StaleFallbackPlugin", "RetryPlugin", "AccessTokenPlugin", "CookiePlugin",
                    "CachePlugin", "CircuitBreakerPlugin", "RateLimitPlugin", "ConcurrencyLimitPlugin",
                    "TracingPlugin.Propagation", "SigningPlugin", "DeduplicationPlugin", "GzipPlugin",
                ]
            )
            #expect(Provider<Ask>(transport: ScriptedTransport([]), plugins: [stack]).explain().findings == [])
        }
    }
}
#endif
