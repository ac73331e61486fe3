import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineStores
import PipelineTesting
import TestSupport
import Testing

@Suite("StaleFallbackPlugin", .tags(.concurrent))
struct StaleFallbackPluginTests {
    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let suite = PluginConformance { StaleFallbackPlugin() }
        #expect(await suite.run() == [])
    }

    @Test("With StaleFallbackPlugin, a stale response is used only after all retries have failed", arguments: [503, 0])
    func fallback(status: Int) async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600")
        let transport = ScriptedTransport { _, index in
            guard index > 0 else { return .status(200, headers: fields, body: "0") }
            return status == 0 ? .failure(.connectionLost) : .status(status)
        }
        let bench = CacheBench(
            transport,
            outside: [
                StaleFallbackPlugin(),
                RetryPlugin(maximumAttempts: 3, backoff: .constant(.zero)),
            ]
        )
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(100))
        #expect(try await bench.get() == "0 stale")
        #expect(transport.sent.count == 4)
    }

    @Test("Without a stored response that may be used, the failure of the origin is thrown")
    func withoutStored() async throws {
        let transport = ScriptedTransport([
            .status(200, headers: CacheBench.control("max-age=60"), body: "0"), .failure(.connectionLost),
        ])
        let bench = CacheBench(transport, outside: [StaleFallbackPlugin()])
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(100))
        let error = await #expect(throws: PipelineError.self) { try await bench.get() }
        #expect(error?.code == .connectionLost)
        #expect(transport.sent.count == 2)
    }

    @Test("explain() reports the plugin inside a plugin that retries, and without a cache")
    func order() {
        func findings(_ plugins: [any PluginType]) -> [String] {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain().findings.map(\.id)
        }
        #expect(findings([StaleFallbackPlugin(), RetryPlugin(), CachePlugin()]) == [])
        #expect(findings([RetryPlugin(), StaleFallbackPlugin(), CachePlugin()]) == ["fallback-inside-retry"])
        #expect(findings([StaleFallbackPlugin()]) == ["fallback-without-cache"])
        #expect(findings([CachePlugin(), CachePlugin()]) == ["cache-twice"])
        #expect(findings([CachePlugin(), CookiePlugin()]) == ["cookies-inside-cache"])
    }
}
