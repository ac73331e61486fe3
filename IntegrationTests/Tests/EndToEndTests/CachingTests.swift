import Pipeline
import TestSupport
import Testing

@Suite("httpbin: conditional requests", .besideHTTPBin, .realTime, .watched)
struct CachingTests {
    private struct Page: HTTPBinTarget {
        var path: String
        var headers: [String: String]?
    }

    private let provider = Provider<Page>()

    @Test(
        "the server evaluates If-Match and If-None-Match",
        arguments: [
            (nil, 200), (["If-None-Match": "abc"], 304), (["If-None-Match": "\"x\", \"abc\""], 304),
            (["If-None-Match": "*"], 304),
            (["If-None-Match": "x"], 200), (["If-Match": "abc"], 200), (["If-Match": "x"], 412),
        ] as [([String: String]?, Int)]
    )
    func tags(headers: [String: String]?, code: Int) async throws {
        let response = try await provider.request(Page(path: "/etag/abc", headers: headers))
        #expect(response.statusCode == code)
        #expect(response.headers[.eTag] == (code == 412 ? nil : "abc"))
        if code == 304 { #expect(response.data.isEmpty) }
    }

    @Test(
        "a 304 is returned as the response, and no lower cache replaces it",
        arguments: ["If-Modified-Since", "If-None-Match"]
    )
    func notModified(name: String) async throws {
        let first = try await provider.request(Page(path: "/cache"))
        #expect(first.statusCode == 200)
        #expect(first.headers[.lastModified] != nil)
        let value = try #require(name == "If-None-Match" ? first.headers[.eTag] : first.headers[.lastModified])
        let second = try await provider.request(Page(path: "/cache", headers: [name: value]))
        #expect(second.statusCode == 304)
        #expect(second.data.isEmpty)
    }

    @Test("nothing is cached, even if it may be")
    func notCached() async throws {
        let fresh = try await provider.request(Page(path: "/cache/3600", headers: ["X-Call": "1"]))
        #expect(fresh.headers[.cacheControl] == "public, max-age=3600")
        let again = try await provider.request(Page(path: "/cache/3600", headers: ["X-Call": "2"]))
        #expect(try again.mapString(atKeyPath: "headers.X-Call") == "2")
    }
}
