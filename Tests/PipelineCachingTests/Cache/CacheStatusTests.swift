import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("CacheStatus", .watched)
struct CacheStatusTests {
    @Test("The description of a hostile lifetime is a text, too")
    func hostileLifetime() throws {
        let status = try #require(try Self.status(of: "Pipeline; hit; ttl=\(Int.min)"))
        #expect("\(status)" == "stale, stale for 9223372036854775808 s")
    }

    @Test(
        "RFC 9211 §2: a value of the field describes an outcome, which can be read from it",
        arguments: [
            (CacheStatus(.hit, timeToLive: 5), "Pipeline; hit; ttl=5"),
            (
                CacheStatus(.stale, reason: "offline", timeToLive: 0),
                "Pipeline; hit; ttl=0; detail=\"offline\""
            ),
            (
                CacheStatus(.miss, reason: "uri-miss", timeToLive: 9, isStored: true, originStatus: 200),
                "Pipeline; fwd=uri-miss; fwd-status=200; ttl=9; stored"
            ),
            (
                CacheStatus(.miss, reason: "request", originStatus: 304), "Pipeline; fwd=request; fwd-status=304"
            ),
            (
                CacheStatus(.miss, reason: "If-Match", originStatus: 200),
                "Pipeline; fwd=request; fwd-status=200; detail=\"If-Match\""
            ),
            (
                CacheStatus(.revalidated, reason: "stale", timeToLive: 9, originStatus: 304),
                "Pipeline; fwd=stale; fwd-status=304; ttl=9"
            ),
            (
                CacheStatus(.bypass, reason: "store-unavailable", originStatus: 200),
                "Pipeline; fwd=bypass; fwd-status=200; detail=\"store-unavailable\""
            ),
        ]
    )
    func fieldValue(_ status: CacheStatus, _ text: String) throws {
        #expect(status.fieldValue == text)
        #expect(try Self.status(of: text) == status)
    }

    private static func status(of fieldValue: String) throws -> CacheStatus? {
        let name = try #require(HTTPField.Name("Cache-Status"))
        let request = try PipelineRequest(.get, url: "https://a.test")
        return PipelineResponse(request: request, statusCode: 200, headers: [name: fieldValue]).cacheStatus
    }

    @Test("A stale response without a reason is read from its negative lifetime")
    func staleByLifetime() throws {
        #expect(try Self.status(of: "Pipeline; hit; ttl=-1")?.kind == .stale)
        #expect(CacheStatus(.revalidated).fieldValue == "Pipeline; fwd=stale")
    }

    @Test("RFC 9211 §2: the cache appends its line to those of other caches, and only the last one is read")
    func others() async throws {
        let name = try #require(HTTPField.Name("Cache-Status"))
        let bench = CacheBench(CacheBench.control("max-age=60", [name: "Pipeline; hit; ttl=3"]))
        let response = try await bench.response()
        #expect(response.cacheStatus?.kind == .miss)
        #expect(response.headers[values: name].first == "Pipeline; hit; ttl=3")
        var other = response
        other.headers.append(HTTPField(name: name, value: "Edge; hit"))
        #expect(other.cacheStatus == nil)
    }
}
