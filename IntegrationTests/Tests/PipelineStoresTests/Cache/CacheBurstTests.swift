import Dispatch
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("A cache with many calls at once", .realTime, .watched)
struct CacheBurstTests {
    private static let count = 300

    /// A provider with a cache over a store, and its transport.
    private func make(
        _ store: some CacheStore,
        _ configuration: ProviderConfiguration = ProviderConfiguration()
    ) -> (Provider<URLTarget>, ScriptedTransport) {
        let transport = ScriptedTransport { request, _ in
            .status(200, headers: [.cacheControl: "max-age=3600"], body: request.path)
        }
        let plugins = [CachePlugin(store: store)]
        return (Provider(transport: transport, plugins: plugins, configuration: configuration), transport)
    }

    private func target(_ number: Int) -> URLTarget { URLTarget("https://example.com/\(number)") }

    /// Fills a cache, and then asks for all at once, in the ways that may ask the server and in those that may not.
    private func burst(_ store: some CacheStore) async throws {
        let (provider, transport) = make(store)
        for number in 0..<Self.count { _ = try await provider.request(target(number)) }
        for policy in [CachePolicy.standard, .offline, .onlyIfCached] {
            let responses = try await withThrowingTaskGroup(of: (Int, PipelineResponse).self) { group in
                for number in 0..<Self.count {
                    group.addTask {
                        let options = RequestOptions { $0.cachePolicy = policy }
                        return (number, try await provider.request(target(number), options: options))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(
                responses.allSatisfy {
                    $1.cacheStatus?.kind == .hit && String(decoding: $1.data, as: UTF8.self) == "/\($0)"
                }
            )
        }
        #expect(transport.sent.count == Self.count)
    }

    @Test("K01: 300 lookups at once in a folder are 300 hits")
    func folder() async throws { try await burst(try CacheFiles().store()) }

    @Test("K01: 300 lookups at once in Redis are 300 hits", .enabled(if: LocalRedis.executable != nil))
    func redis() async throws {
        try await LocalRedis.run { try await burst(try $0.store()) }
    }

    @Test(
        "K01: a folder in which another process writes for 0.5 s is waited for",
        arguments: [CachePolicy.standard, .offline]
    )
    func locked(policy: CachePolicy) async throws {
        let files = try CacheFiles()
        // In virtual time, because the limit of a lookup would pass while this process waits for a processor.
        let (provider, transport) = make(files.store(), ProviderConfiguration(clock: ManualClock()))
        _ = try await provider.request(target(1))
        let other = try files.connection()
        try other.execute("BEGIN EXCLUSIVE")
        let (released, release) = AsyncStream<Never>.makeStream()
        nonisolated(unsafe) let connection = other
        DispatchQueue(label: "other process", qos: .userInteractive).asyncAfter(deadline: .now() + .milliseconds(500)) {
            try? connection.execute("COMMIT")
            release.finish()
        }
        let hit = try await provider.request(target(1), options: RequestOptions { $0.cachePolicy = policy })
        #expect(hit.cacheStatus?.kind == .hit)
        if policy == .standard {
            let stored = try await provider.request(target(2))
            #expect(stored.cacheStatus?.isStored == true)
        }
        for await _ in released {}
        #expect(transport.sent.count == (policy == .standard ? 2 : 1))
    }
}
