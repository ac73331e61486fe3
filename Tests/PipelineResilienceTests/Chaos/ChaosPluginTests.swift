import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("ChaosPlugin", .tags(.concurrent), .watched)
struct ChaosPluginTests {
    private let clock = ManualClock()
    private let transport = ScriptedTransport(always: .status(200, body: "12345678"))

    private func provider(_ plugins: any PluginType..., seed: UInt64 = 1) -> Provider<Ask> {
        Provider(
            transport: transport,
            plugins: plugins,
            configuration: .init(clock: clock, random: .seeded(seed))
        )
    }

    private static let local = Ask(url: "http://localhost:8080")

    @Test("The plugin passes the conformance suite, also if it acts")
    func conformance() async {
        #expect(await PluginConformance { ChaosPlugin(.status(500, rate: 1)) }.run() == [])
        let acting = PluginConformance { ChaosPlugin(.latency(.zero ... .seconds(1), rate: 1), hosts: .allowsAnyHost) }
        #expect(await acting.run() == [])
    }

    @Test(
        "It acts only for loopback addresses, for the given hosts with any port, or for every host if the code says so"
    )
    func hosts() async throws {
        let urls = ["http://localhost", "http://127.0.0.1:9", "http://[::1]", "https://a.test", "https://A.test:8443"]
        func statuses(_ hosts: ChaosPlugin.Hosts) async throws -> [Int] {
            var statuses: [Int] = []
            for url in urls {
                let provider = provider(ChaosPlugin(.status(500, rate: 1), hosts: hosts))
                statuses.append(try await provider.request(Ask(url: url)).statusCode)
            }
            return statuses
        }
        #expect(try await statuses(.loopback) == [500, 500, 500, 200, 200])
        #expect(try await statuses(.only(["a.test"])) == [200, 200, 200, 500, 500])
        #expect(try await statuses(.only(["[::1]"])) == [200, 200, 500, 200, 200])
        #expect(try await statuses(.allowsAnyHost) == [500, 500, 500, 500, 500])
    }

    @Test("A fault fails before the request is sent, a lost response after it")
    func faults() async throws {
        let fault = provider(ChaosPlugin(.fault(.connect(.refused), rate: 1)))
        var error = await #expect(throws: PipelineError.self) { try await fault.request(Self.local) }
        #expect(error?.code == .connect(.refused))
        #expect(transport.sent.isEmpty)
        let lost = provider(ChaosPlugin(.lostResponse(rate: 1)))
        error = await #expect(throws: PipelineError.self) { try await lost.request(Self.local) }
        #expect(error?.code == .connectionLost)
        #expect(transport.sent.count == 1)
        #expect(error?.exchanges.flatMap(\.annotations).map(\.event) == ["lost"])
    }

    @Test("Latency is a wait on the provider's clock, which the attempt timeout ends")
    func latency() async throws {
        let chaos = ChaosPlugin(.latency(.seconds(2)...(.seconds(2)), rate: 1))
        let (clock, provider) = (clock, provider(TimeoutPlugin(attempt: .seconds(3)), chaos))
        let response = try await clock.run { try await provider.request(Self.local) }
        #expect(clock.now.offset == .seconds(2))
        #expect(response.exchanges.flatMap(\.annotations).map(\.duration) == [.seconds(2)])
        let options = RequestOptions { $0.attemptTimeout = .seconds(1) }
        let error = await #expect(throws: PipelineError.self) {
            try await clock.run { try await provider.request(Self.local, options: options) }
        }
        #expect(error?.code == .timeout(.attempt))
        #expect(clock.now.offset == .seconds(3))
        #expect(transport.sent.count == 1)
    }

    @Test("A replaced response has the status and no body; the exchange shows that of the server")
    func status() async throws {
        let response = try await provider(ChaosPlugin(.status(503, rate: 1))).request(Self.local)
        #expect(response.statusCode == 503)
        #expect(response.body.isAbsent || response.data.isEmpty)
        #expect(response.exchanges.map(\.statusCode) == [200])
        #expect(response.exchanges.flatMap(\.annotations).map(\.event) == ["replaced"])
    }

    @Test("A broken body ends after half of its first piece, with or without an error")
    func body() async throws {
        let truncated = provider(ChaosPlugin(.brokenBody(.truncated, rate: 1)))
        #expect(try await truncated.request(Self.local).mapString() == "1234")
        let failing = provider(ChaosPlugin(.brokenBody(.fails(.connectionLost), rate: 1)))
        let error = await #expect(throws: PipelineError.self) { try await failing.request(Self.local) }
        #expect(error?.code == .connectionLost)
        let stream = try await failing.stream(Self.local)
        var received = Data()
        await #expect(throws: PipelineError.self) { for try await chunk in stream.body { received += chunk } }
        #expect(received == Data("1234".utf8))
    }

    private func results(seed: UInt64) async throws -> [Int] {
        let provider = provider(
            ChaosPlugin(.fault(.connectionLost, rate: 0.02), .status(503, rate: 0.1)),
            seed: seed
        )
        var results: [Int] = []
        for _ in 1...10_000 { results.append((try? await provider.request(Self.local).statusCode) ?? 0) }
        return results
    }

    @Test("Of 10,000 exchanges, each effect affects its share, the same ones for the same seed")
    func rates() async throws {
        let results = try await results(seed: 5)
        #expect((150...250).contains(results.count { $0 == 0 }))
        #expect((880...1_080).contains(results.count { $0 == 503 }))
        #expect(try await self.results(seed: 5) == results)
        #expect(try await self.results(seed: 6) != results)
    }

    @Test("Effects do not depend on each other: a changed rate leaves the other faults where they are")
    func independence() async throws {
        func lost(_ rate: Double) async throws -> [Int] {
            let provider = provider(ChaosPlugin(.status(503, rate: rate), .lostResponse(rate: 0.1)))
            var lost: [Int] = []
            for number in 1...500 where (try? await provider.request(Self.local)) == nil { lost.append(number) }
            return lost
        }
        let rare = try await lost(0)
        #expect(!rare.isEmpty)
        #expect(try await lost(0.9) == rare)
    }

    @Test("explain() reports a plugin that observes exchanges inside")
    func order() {
        func findings(_ plugins: any PluginType...) -> [String] {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain().findings.map(\.id)
        }
        #expect(findings(CachePlugin(), ChaosPlugin()) == [])
        #expect(findings(ChaosPlugin(), CachePlugin()) == ["observer-inside-chaos"])
    }
}
