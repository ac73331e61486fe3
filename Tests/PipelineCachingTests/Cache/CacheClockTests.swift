import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("CachePlugin when the date is changed", .watched)
struct CacheClockTests {
    private let clock = AdjustableClock()
    private let day = 86_400.0

    private func provider(
        _ fields: HTTPFields,
        _ store: any CacheStore = MemoryCacheStore()
    ) -> (Provider<Ask>, ScriptedTransport) {
        let transport = ScriptedTransport { request, index in
            request.headers.contains(.ifNoneMatch)
                ? .status(304, headers: fields) : .status(200, headers: fields, body: "\(index)")
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [CachePlugin(store: store)],
            configuration: .init(clock: clock)
        )
        return (provider, transport)
    }

    @Test("A date that was set back by a day makes no response younger than it was when it arrived")
    func youngest() async throws {
        let (provider, _) = provider(CacheBench.control("max-age=60", [.age: "50"]))
        _ = try await provider.request(Ask())
        clock.setDate(by: -day)
        #expect(try await provider.request(Ask()).headers[.age] == "50")
    }

    @Test("A response that arrives after the date was set back replaces one from before")
    func replaced() async throws {
        let (provider, transport) = provider(CacheBench.control("max-age=60"))
        _ = try await provider.request(Ask())
        clock.setDate(by: -day)
        let options = RequestOptions { $0.cachePolicy = .reload }
        #expect(try await provider.request(Ask(), options: options).data == Data("1".utf8))
        #expect(try await provider.request(Ask()).data == Data("1".utf8))
        #expect(transport.sent.count == 2)
    }

    @Test("After the date was set back, a validation makes the response as old as the date says")
    func validated() async throws {
        let (provider, _) = provider(CacheBench.control("max-age=60", [.eTag: "\"v\""]))
        _ = try await provider.request(Ask())
        clock.setDate(by: -day)
        let options = RequestOptions { $0.cachePolicy = .revalidate }
        let response = try await provider.request(Ask(), options: options)
        #expect(response.cacheStatus?.kind == .revalidated)
        clock.advance(by: .seconds(59))
        #expect(try await provider.request(Ask()).cacheStatus?.kind == .hit)
        clock.advance(by: .seconds(1))
        #expect(try await provider.request(Ask()).cacheStatus?.kind == .revalidated)
    }

    @Test("The secret is requested again if the date was set back or forward", arguments: [-86_400, 86_400])
    func secret(seconds: Double) async throws {
        let log = StoreLog()
        let (provider, _) = provider(CacheBench.control("max-age=60"), WatchedStore(before: log.add))
        for _ in 1...2 { _ = try await provider.request(Ask()) }
        #expect(log.count(of: .secret) == 1)
        clock.setDate(by: seconds)
        _ = try await provider.request(Ask())
        #expect(log.count(of: .secret) == 2)
    }
}
