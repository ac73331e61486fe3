import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Storing of responses", .watched)
struct StoringTests {
    private static func outcome(
        _ rules: CacheRules,
        _ response: HTTPResponse,
        _ request: HTTPRequest = CacheSamples.request(),
        hasCredential: Bool = false
    ) -> String {
        switch rules.storing(response, to: request, hasCredential: hasCredential, now: CacheSamples.now) {
        case .store: "stored"
        case .refuse(let reason): reason
        }
    }

    @Test(
        "RFC 9111 §3: responses to GET and QUERY are stored, those to other methods are not",
        arguments: [
            ("GET", "stored"), ("QUERY", "stored"), ("HEAD", "method"), ("POST", "method"), ("PUT", "method"),
            ("get", "method"),
        ]
    )
    func method(method: String, expected: String) {
        let response = CacheSamples.response(200, "Cache-Control: max-age=60")
        #expect(Self.outcome(.private, response, CacheSamples.request("", method)) == expected)
    }

    @Test(
        "RFC 9111 §3: a final response with an explicit lifetime is stored, whatever its status",
        arguments: [200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 401, 404, 410, 499, 500, 502, 503, 504, 599]
    )
    func explicitStatus(status: Int) {
        #expect(Self.outcome(.private, CacheSamples.response(status, "Cache-Control: max-age=60")) == "stored")
    }

    @Test(
        "RFC 9111 §3: an interim, conditional or range response is not stored for a plain request",
        arguments: [
            (103, "status 103"), (206, "invalid part"), (304, "status 304"), (412, "status 412"), (416, "status 416"),
        ]
    )
    func unstoredStatus(status: Int, expected: String) {
        #expect(Self.outcome(.private, CacheSamples.response(status, "Cache-Control: max-age=60")) == expected)
    }

    @Test(
        "RFC 9111 §3: without an explicit lifetime, only heuristically cacheable responses are stored",
        arguments: [
            (200, "Last-Modified: @-1000", "stored"), (404, "Last-Modified: @-1000", "stored"),
            (404, "ETag: \"a\"", "stored"),
            (201, "Last-Modified: @-1000", "status 201"), (403, "Last-Modified: @-1000", "status 403"),
            (599, "Last-Modified: @-1000", "status 599"),
            (599, "Last-Modified: @-1000\nCache-Control: public", "stored"),
            (403, "Expires: @60", "stored"), (403, "Expires: @60\nDate: @0", "stored"),
            (403, "ETag: \"a\"\nCache-Control: private", "stored"),
        ]
    )
    func heuristicStatus(status: Int, fields: String, expected: String) {
        #expect(Self.outcome(.private, CacheSamples.response(status, fields)) == expected)
    }

    @Test(
        "A response that could never be reused is not stored",
        arguments: [
            ("", "no lifetime and no validator"), ("Cache-Control: max-age=0", "no lifetime and no validator"),
            ("Expires: 0", "no lifetime and no validator"),
            ("Cache-Control: no-cache, max-age=5", "no lifetime and no validator"),
            ("ETag: a", "stored"), ("ETag: \"a\"", "stored"),
            ("Cache-Control: no-cache\nETag: W/\"a\"", "stored"),
            ("Cache-Control: max-age=0, stale-while-revalidate=5", "stored"),
            ("Cache-Control: max-age=0, stale-if-error=5", "stored"),
            ("Cache-Control: s-maxage=5", "no lifetime and no validator"),
            ("Cache-Control: max-age=5\nAge: 10", "stored"),
            ("Cache-Control: no-cache=\"a\", max-age=5", "stored"),
        ]
    )
    func useful(fields: String, expected: String) {
        #expect(Self.outcome(.private, CacheSamples.response(200, fields)) == expected)
    }

    @Test(
        "RFC 9111 §5.2.2: no-store and private forbid storing, must-understand replaces no-store",
        arguments: [
            ("private", 200, "no-store", "no-store"), ("private", 200, "max-age=60, No-StOrE", "no-store"),
            ("private", 200, "private, max-age=60", "stored"), ("shared", 200, "private, max-age=60", "private"),
            ("shared", 200, "private=\"a\", max-age=60", "stored"), ("shared", 200, "s-maxage=60", "stored"),
            ("private", 200, "max-age=60, no-store, must-understand", "stored"),
            ("private", 599, "max-age=60, no-store, must-understand", "must-understand"),
            ("private", 599, "max-age=60, must-understand", "must-understand"),
            ("private", 599, "max-age=60", "stored"),
        ]
    )
    func directives(rules: String, status: Int, control: String, expected: String) {
        let response = CacheSamples.response(status, "Cache-Control: \(control)")
        #expect(Self.outcome(CacheSamples.rules(rules), response) == expected)
    }

    @Test(
        "RFC 9111 §3.5: a shared cache stores a response to a request with credentials only if that is permitted",
        arguments: [
            ("shared", "max-age=60", "credentials"), ("shared", "public, max-age=60", "stored"),
            ("shared", "must-revalidate, max-age=60", "stored"), ("shared", "s-maxage=60", "stored"),
            ("shared", "proxy-revalidate, max-age=60", "credentials"), ("private", "max-age=60", "stored"),
        ]
    )
    func credentials(rules: String, control: String, expected: String) {
        let response = CacheSamples.response(200, "Cache-Control: \(control)")
        #expect(Self.outcome(CacheSamples.rules(rules), response, hasCredential: true) == expected)
    }

    @Test(
        "RFC 9213 §2.2: a targeted field decides in place of Cache-Control and Expires",
        arguments: [
            ("CDN-Cache-Control: max-age=60\nCache-Control: no-store", "stored"),
            ("CDN-Cache-Control: no-store\nCache-Control: max-age=60", "no-store"),
            ("CDN-Cache-Control: private\nCache-Control: max-age=60", "private"),
            ("CDN-Cache-Control: max-age=60, &\nCache-Control: no-store", "no-store"),
            ("CDN-Cache-Control: max-age=\"60\"\nCache-Control: no-store", "no lifetime and no validator"),
        ]
    )
    func targeted(fields: String, expected: String) {
        #expect(Self.outcome(CacheSamples.targeted, CacheSamples.response(200, fields)) == expected)
    }

    @Test(
        "RFC 9111 §5.2.1.5: no-store in the request forbids storing",
        arguments: [("no-store", "no-store of the request"), ("no-cache", "stored"), ("max-age=0", "stored")]
    )
    func requestDirectives(control: String, expected: String) {
        let request = CacheSamples.request("Cache-Control: \(control)")
        #expect(Self.outcome(.private, CacheSamples.response(200, "Cache-Control: max-age=60"), request) == expected)
    }

    @Test(
        "RFC 9111 §4.1: a response with Vary: * is not stored",
        arguments: [("*", "Vary: *"), ("a, *", "Vary: *"), ("a", "stored"), ("", "stored")]
    )
    func vary(vary: String, expected: String) {
        let response = CacheSamples.response(200, "Cache-Control: max-age=60\nVary: \(vary)")
        #expect(Self.outcome(.private, response) == expected)
    }

    @Test(
        "RFC 9111 §3.3: of the responses to a range request, a valid single part or the whole is stored",
        arguments: [
            (206, "Content-Range: bytes 4-8/10", "stored"), (206, "Content-Range: bytes 4-8/*", "stored"),
            (206, "", "invalid part"), (206, "Content-Range: bytes */10", "invalid part"),
            (206, "Content-Range: bytes 4-10/10", "invalid part"), (206, "Content-Range: bytes 5-4/10", "invalid part"),
            (206, "Content-Range: lines 4-8/10", "invalid part"),
            (206, "Content-Range: bytes 4-8/10\nContent-Range: bytes 4-8/10", "invalid part"),
            (206, "Content-Range: bytes 4-8", "invalid part"), (206, "Content-Range: bytes +4-8/10", "invalid part"),
            (206, "Content-Range: bytes 0-9999999999999999999/*", "invalid part"), (200, "", "stored"),
            (404, "", "status 404 for a range"), (416, "", "status 416"),
        ]
    )
    func parts(status: Int, fields: String, expected: String) {
        let response = CacheSamples.response(status, "Cache-Control: max-age=60\n" + fields)
        #expect(Self.outcome(.private, response, CacheSamples.request("Range: bytes=4-8")) == expected)
    }

    @Test("RFC 9110 §15.3.7: a part that was not asked for is not stored")
    func unexpectedPart() {
        let response = CacheSamples.response(206, "Cache-Control: max-age=60\nContent-Range: bytes 4-8/10")
        #expect(Self.outcome(.private, response) == "invalid part")
    }
}
