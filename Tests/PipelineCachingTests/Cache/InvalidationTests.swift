import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Invalidation of stored responses", .watched)
struct InvalidationTests {
    @Test(
        "RFC 9111 §4.4: a successful response to an unsafe or unknown method invalidates the target",
        arguments: [
            ("POST", 200, true), ("PUT", 204, true), ("DELETE", 200, true), ("M-SEARCH", 200, true),
            ("PATCH", 303, true), ("FOO", 200, true),
            ("POST", 500, false), ("POST", 404, false), ("GET", 200, false), ("HEAD", 200, false),
            ("OPTIONS", 200, false), ("QUERY", 200, false),
            ("PROPFIND", 207, false), ("post", 200, true),
        ]
    )
    func methods(method: String, status: Int, isInvalidated: Bool) {
        let request = CacheSamples.request("", method, path: "/a?b#c")
        let resources = CacheRules.invalidated(by: CacheSamples.response(status), to: request)
        #expect(resources == (isInvalidated ? ["https://a.test/a?b"] : []))
    }

    @Test(
        "RFC 9111 §4.4: Location and Content-Location are invalidated if they have the same origin",
        arguments: [
            ("Location: /x", ["https://a.test/x"]), ("Location: x?y=%20#z", ["https://a.test/dir/x?y=%20"]),
            ("Location: ../x", ["https://a.test/x"]),
            ("Content-Location: https://A.test:443/x", ["https://a.test/x"]),
            ("Location: /x\nContent-Location: /y", ["https://a.test/x", "https://a.test/y"]),
            ("Location: https://b.test/x", []), ("Location: http://a.test/x", []),
            ("Location: https://a.test:8443/x", []), ("Location: //b.test/x", []),
            ("Location: https://a.test.evil/x", []), ("Location: https://a.test@evil/x", []), ("Location: ", []),
            ("Content-Location: /dir/a", []),
            ("Location: https://a.test", ["https://a.test/"]), ("Location: mailto:a@b", []),
        ]
    )
    func locations(fields: String, expected: [String]) {
        let request = CacheSamples.request("", "POST", path: "/dir/a")
        let resources = CacheRules.invalidated(by: CacheSamples.response(200, fields), to: request)
        #expect(resources == ["https://a.test/dir/a"] + expected)
    }

    @Test(
        "RFC 9110 §4.2.3: equivalent URIs have the same text",
        arguments: [
            ("https", "a.test", "/", "https://a.test/"), ("HTTPS", "A.Test", "/A", "https://a.test/A"),
            ("https", "a.test:443", "/", "https://a.test/"),
            ("http", "a.test:80", "/", "http://a.test/"), ("https", "a.test:80", "/", "https://a.test:80/"),
            ("http", "a.test:", "/", "http://a.test/"),
            ("https", "a.test", "", "https://a.test/"), ("https", "a.test", "?q", "https://a.test/?q"),
            ("https", "[::1]:443", "/", "https://[::1]/"),
            ("https", "[::1]", "/", "https://[::1]/"), ("https", "a.test", "/a#b", "https://a.test/a"),
            ("https", "u@a.test", "/", nil), ("https", "", "/", nil),
            ("https", ":443", "/", nil), ("https", nil, "/", nil), (nil, "a.test", "/", nil),
            ("https", "a.test", nil, "https://a.test/"),
        ] as [(String?, String?, String?, String?)]
    )
    func resources(scheme: String?, authority: String?, path: String?, expected: String?) {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
        #expect(CacheRules.resourceText(request) == expected)
    }
}
