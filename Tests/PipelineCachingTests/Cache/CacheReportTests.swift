import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("What the cache reports", .watched)
struct CacheReportTests {
    @Test("A response from the cache has a line in the log that says so")
    func log() async throws {
        let lines = Mutex<[String]>([])
        let logging = LoggingPlugin(level: .info, handler: { _, line in lines.withLock { $0.append(line) } })
        let bench = CacheBench(CacheBench.control("max-age=60"), outside: [logging])
        for _ in 1...2 { _ = try await bench.get() }
        #expect(
            lines.withLock { $0 } == [
                "#1 → GET https://a.test/b", "#1 ← 200 GET https://a.test/b 0 ms, 1 bytes",
                "#2 ← 200 GET https://a.test/b 0 ms, 1 bytes, cache: hit, fresh for 60 s",
            ]
        )
    }

    @Test("RFC 9211: each outcome has a text for people and a field value for machines")
    func statuses() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60", [.eTag: "\"v\""]))
        func report(_ ask: Ask = Ask(), _ policy: CachePolicy? = nil) async throws -> [String?] {
            let response = try await bench.response(ask, policy)
            return [response.cacheStatus?.description, response.cacheStatus?.fieldValue]
        }
        #expect(
            try await report() == [
                "miss (uri-miss), fresh for 60 s, stored",
                "Pipeline; fwd=uri-miss; fwd-status=200; ttl=60; stored",
            ]
        )
        #expect(try await report() == ["hit, fresh for 60 s", "Pipeline; hit; ttl=60"])
        #expect(
            try await report(Ask(), .revalidate) == [
                "revalidated (request), fresh for 60 s", "Pipeline; fwd=request; fwd-status=304; ttl=60",
            ]
        )
        #expect(
            try await report(Ask(), .noStore) == ["bypass (bypass)", "Pipeline; fwd=bypass; fwd-status=200"]
        )
        #expect(
            try await report(Ask(method: .post)) == ["bypass (method)", "Pipeline; fwd=method; fwd-status=200"]
        )
        #expect(
            try await report(Ask(url: "https://a.test/other"), .onlyIfCached) == [
                "bypass (only-if-cached)", "Pipeline; detail=\"only-if-cached\"",
            ]
        )
    }

    @Test("RFC 9211 §2.2: a stale response in place of a failure was forwarded, and says with which status")
    func staleIfError() async throws {
        let fields = CacheBench.control("max-age=1, stale-if-error=60")
        let bench = CacheBench(
            ScriptedTransport { _, index in
                index == 0 ? .status(200, headers: fields) : index == 1 ? .status(503) : .failure(.connectionLost)
            }
        )
        _ = try await bench.get()
        bench.clock.advance(by: .seconds(3))
        for status in ["; fwd-status=503", ""] {
            let report = try await bench.response().cacheStatus
            #expect(report?.fieldValue == "Pipeline; fwd=stale\(status); ttl=-2; detail=\"stale-if-error\"")
            #expect(report?.description == "stale (stale-if-error), stale for 2 s")
        }
    }
}

@Suite("The cache in the standard stack", .watched)
struct CacheStackTests {
    private func bench(_ cache: CachePlugin) -> CacheBench {
        let fields = CacheBench.control("max-age=60")
        let transport = ScriptedTransport { _, index in .status(200, headers: fields, body: "\(index)") }
        return CacheBench(transport, stack: .standard(.cache(cache)))
    }

    @Test("The response of a cache that has none is not retried")
    func notRetried() async throws {
        let bench = bench(CachePlugin())
        let response = try await bench.response(Ask(), .onlyIfCached)
        #expect(response.statusCode == 504)
        #expect(bench.clock.now == bench.clock.origin)
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("With accounts, the stack has no finding, and equal calls of two accounts share no exchange")
    func accounts() async throws {
        let user = Mutex("a")
        let bench = bench(CachePlugin(account: { _ in user.withLock { $0 } }))
        #expect(bench.provider.explain().findings.isEmpty, "\(bench.provider.explain())")
        #expect(try await bench.get() == "0 miss")
        user.withLock { $0 = "b" }
        #expect(try await bench.get() == "1 miss")
    }
}
