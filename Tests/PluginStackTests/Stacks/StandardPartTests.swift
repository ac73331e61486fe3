import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCaching
@testable import PipelineCore
@testable import PipelinePlugins
@testable import PipelineResilience
@testable import PipelineSigning

@Suite("StandardPart", .watched)
struct StandardPartTests {
    private static func names(_ stack: PluginStack) -> [String] { stack.plugins.map(\.name) }

    /// Returns all orders of a list.
    private static func orders<Element>(of elements: [Element]) -> [[Element]] {
        guard elements.count > 1 else { return [elements] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return orders(of: rest).map { [first] + $0 }
        }
    }

    @Test("All orders of token, cookies, cache, resilience and signature make the same stack, without a finding")
    func orders() {
        let parts: [StandardPart] = [
            StandardPart([.credentials: [AccessTokenPlugin { _ in "token" }]]), .cookies(), .cache(), .resilient,
            .signing(SigningPlugin(account: { _ in "one" }, sign: { _, _ in })),
        ]
        let orders = Self.orders(of: parts)
        #expect(orders.count == 120)
        for part in orders {
            let stack = PluginStack.standard(part[0], part[1], part[2], part[3], part[4])
            #expect(
                Self.names(stack) == [
                    "LoggingPlugin", "TimeoutPlugin", "RequestIDPlugin", "StaleFallbackPlugin", "RetryPlugin",
                    "AccessTokenPlugin", "CookiePlugin", "CachePlugin", "CircuitBreakerPlugin",
                    "RateLimitPlugin", "ConcurrencyLimitPlugin", "SigningPlugin", "DeduplicationPlugin", "GzipPlugin",
                ]
            )
            #expect(Provider<Ask>(transport: ScriptedTransport([]), plugins: [stack]).explain().findings == [])
        }
    }

    @Test("A part takes the place of the stack's own plugin, and an empty one removes it")
    func replacement() {
        let own = Self.names(.standard)
        #expect(Self.names(.standard(.retries(RetryPlugin(budget: RetryBudget())))) == own)
        let removed = Self.names(.standard(StandardPart([.deduplication: []])))
        #expect(removed == own.filter { $0 != "DeduplicationPlugin" })
    }

    @Test("A part takes the place of a replaceable one, before or after it; of two replaceable ones, the last counts")
    func replaceable() {
        func header(_ name: String) -> PluginStack { [PluginStack.prepare(name: name) { _, _ in }] }
        let fixed = StandardPart([.requestID: header("fixed")])
        let first = StandardPart(replaceable: [.requestID: header("first")])
        let last = StandardPart(replaceable: [.requestID: header("last")])
        func chosen(_ stack: PluginStack) -> [String] {
            Self.names(stack).filter { ["fixed", "first", "last", "RequestIDPlugin"].contains($0) }
        }
        #expect(chosen(.standard(first, fixed)) == ["fixed"])
        #expect(chosen(.standard(fixed, first)) == ["fixed"])
        #expect(chosen(.standard(first, last)) == ["last"])
    }

    @Test("Two parts in one slot, and the braces, are all in the stack, in their order")
    func oneSlot() {
        func part(_ name: String) -> StandardPart {
            StandardPart([.credentials: [PluginStack.prepare(name: name) { _, _ in }]])
        }
        let stack = PluginStack.standard(part("one"), part("two")) { PluginStack.prepare(name: "three") { _, _ in } }
        let names = Self.names(stack)
        #expect(names.filter { ["one", "two", "three"].contains($0) } == ["one", "two", "three"])
    }

    @Test("Credentials of a replaceable part are in a stack without braces, and the braces take their place")
    func replaceableCredentials() {
        let part = StandardPart(replaceable: [.credentials: [PluginStack.prepare(name: "part") { _, _ in }]])
        #expect(Self.names(.standard(part)).contains("part"))
        let names = Self.names(.standard(part) { PluginStack.prepare(name: "braces") { _, _ in } })
        #expect(names.contains("braces") && !names.contains("part"))
    }
}
