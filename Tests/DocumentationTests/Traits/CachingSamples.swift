import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

enum CachingSamples {
    enum News: TargetType {
        case headlines

        var baseURL: URL { Endpoint.url("https://news.example") }
        var path: String { "headlines" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
        var sampleData: Data { Data("none".utf8) }
    }

    private struct UnknownTenant: Error {}

    private struct TenantTarget: TargetType {
        let tenant: String

        var baseURL: URL { Endpoint.url("https://news.example") }
        var path: String { "headlines" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    static func inMemory() -> Provider<News> {
        // sample: cache
        let provider = Provider<News>(
            transport: StubTransport(),  // URLSessionTransport() for the network
            plugins: [.standard(.cache())]
        )
        // end
        return provider
    }

    static func status(_ provider: Provider<News>) async throws {
        // sample: cache status
        let response = try await provider.request(.headlines)
        print(response.cacheStatus?.description ?? "no cache")
        // end
    }

    #if SQLite || canImport(Darwin)
    static func onDisk(_ folder: URL, log: @escaping @Sendable (String) -> Void) -> CachePlugin {
        // sample: cache on disk
        let cache = CachePlugin(store: DiskCacheStore(folder), onStoreFailure: { error in log("cache: \(error)") })
        // end
        return cache
    }
    #endif

    static func reload(_ provider: Provider<News>) async throws -> String {
        // sample: cache policy
        let fresh = try await provider.request(.headlines, options: .init { $0.cachePolicy = .reload })
        // end
        return try fresh.mapString()
    }

    static func both(_ provider: Provider<News>, show: (String) -> Void) async throws {
        // sample: stored and fresh responses
        for try await response in provider.responses(.headlines) {
            show(try response.mapString())
        }
        // end
    }

    static func accounts() -> CachePlugin {
        // sample: cache accounts
        CachePlugin(account: { target in
            guard let target = target as? TenantTarget else { throw UnknownTenant() }
            return target.tenant
        })
        // end
    }

    static func staleIfError() -> CachePlugin {
        // sample: cache stale if error
        CachePlugin(rules: CacheRules(staleIfError: .seconds(86_400)))
        // end
    }

    static func signOut(_ provider: Provider<News>) async throws {
        // sample: sign out
        try await provider.signOut()
        // end
    }
}

@Suite("Samples of the guide Caching", .watched)
struct CachingSamplesTests {
    private func provider(_ cache: CachePlugin, _ clock: ManualClock) -> Provider<CachingSamples.News> {
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        return Provider(
            transport: ScriptedTransport { _, index in .status(200, headers: fields, body: "\(index)") },
            plugins: [.standard(.cache(cache))],
            configuration: .init(clock: clock)
        )
    }

    @Test("The standard stack with a cache has no finding")
    func order() {
        #expect(CachingSamples.inMemory().explain().findings.isEmpty)
    }

    @Test("A response says in words what the cache did")
    func status() async throws {
        let provider = provider(CachePlugin(), ManualClock())
        let miss = try await provider.request(.headlines)
        #expect(miss.cacheStatus?.description == "miss (uri-miss), fresh for 60 s, stored")
        try await CachingSamples.status(provider)
        #expect(try await provider.request(.headlines).cacheStatus?.description == "hit, fresh for 60 s")
        #expect(try await CachingSamples.reload(provider) == "1")
        #expect(try await provider.request(.headlines).mapString() == "1")
        try await CachingSamples.signOut(provider)
        #expect(try await provider.request(.headlines).mapString() == "2")
    }

    @Test("The stored response is shown before that of the origin")
    func both() async throws {
        let provider = provider(CachePlugin(), ManualClock())
        var shown: [String] = []
        for _ in 1...2 { try await CachingSamples.both(provider) { shown.append($0) } }
        #expect(shown == ["0", "0", "1"])
    }

    @Test("A call without a tenant is refused")
    func accounts() async throws {
        let provider = provider(CachingSamples.accounts(), ManualClock())
        let error = await #expect(throws: PipelineError.self) { try await provider.request(.headlines) }
        #expect(error?.code == .plugin)
    }

    @Test("A stale response replaces a failure for a day")
    func staleIfError() async throws {
        let clock = ManualClock()
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        let provider = Provider<CachingSamples.News>(
            transport: ScriptedTransport([
                .status(200, headers: fields, body: "0"), .failure(.offline), .failure(.offline),
            ]),
            plugins: [CachingSamples.staleIfError()],
            configuration: .init(clock: clock)
        )
        _ = try await provider.request(.headlines)
        clock.advance(by: .seconds(86_460))
        #expect(try await provider.request(.headlines).mapString() == "0")
        clock.advance(by: .seconds(1))
        await #expect(throws: PipelineError.self) { try await provider.request(.headlines) }
    }

    #if SQLite || canImport(Darwin)
    @Test("A cache on disk keeps responses for another provider")
    func disk() async throws {
        let folder = URL.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let clock = ManualClock()
        for expected in [nil, PipelineResponse.Source.cache] {
            let provider = provider(CachingSamples.onDisk(folder, log: { _ in }), clock)
            let response = try await provider.request(.headlines)
            #expect(response.mapStatus == expected)
        }
    }
    #endif
}

extension PipelineResponse {
    /// The source if it is the cache.
    fileprivate var mapStatus: Source? { source == .cache ? source : nil }
}
