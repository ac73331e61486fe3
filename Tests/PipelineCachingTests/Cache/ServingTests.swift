import Foundation
import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Responses from the store", .watched)
struct ServingTests {
    /// Returns the status, the positions of the content and Content-Range; `origin` if the store does not suffice.
    private static func outcome(_ entry: CacheEntry, _ request: HTTPRequest) -> String {
        guard let served = CacheRules.private.served(entry, to: request, age: 5) else { return "origin" }
        var text = "\(served.head.status.code)"
        if let range = served.range { text += " \(range.lowerBound)..<\(range.upperBound)" }
        if let range = served.head.headerFields[.contentRange] { text += " \(range)" }
        return text
    }

    @Test(
        "RFC 9111 §4.3.2: If-None-Match is compared weakly, and comes before If-Modified-Since",
        arguments: [
            ("ETag: \"a\"", "If-None-Match: \"a\"", 304), ("ETag: W/\"a\"", "If-None-Match: W/\"a\"", 304),
            ("ETag: \"a\"", "If-None-Match: W/\"a\"", 304),
            ("ETag: \"a\"", "If-None-Match: \"b\"", 200), ("ETag: \"a\"", "If-None-Match: \"a\", \"b\", \"c\"", 304),
            ("ETag: \"a\"", "If-None-Match: \"b\", \"a\", \"c\"", 304),
            ("ETag: \"a\"", "If-None-Match: \"b\"\nIf-None-Match: \"a\"", 304),
            ("ETag: \"a,b\"", "If-None-Match: \"c\",\"a,b\"", 304), ("ETag: \"a\"", "If-None-Match: \"b,a\"", 200),
            ("ETag: \"a\"", "If-None-Match: *", 304),
            ("", "If-None-Match: *", 304), ("", "If-None-Match: \"a\"", 200), ("ETag: \"a\"", "If-None-Match: a", 200),
            ("ETag: \"\u{fc}\"", "If-None-Match: \"\u{fc}\"", 304),
            ("ETag: \"a\"\nLast-Modified: @-5", "If-None-Match: \"a\"\nIf-Modified-Since: @-9", 304),
            ("ETag: \"a\"\nLast-Modified: @-5", "If-None-Match: \"b\"\nIf-Modified-Since: @0", 200),
        ]
    )
    func ifNoneMatch(stored: String, request: String, expected: Int) {
        let served = CacheRules.private.served(CacheSamples.entry(stored), to: CacheSamples.request(request), age: 5)
        #expect(served?.head.status.code == expected)
        #expect((served?.range == nil) == (expected == 304))
    }

    @Test(
        "RFC 9111 §4.3.2: If-Modified-Since is compared with Last-Modified, otherwise with Date or the time of arrival",
        arguments: [
            ("Last-Modified: @-50", "@-50", 304), ("Last-Modified: @-50", "@-20", 304),
            ("Last-Modified: @-50", "@-51", 200),
            ("Last-Modified: @-50", "foo", 200), ("Date: @-20", "@-20", 304), ("Date: @-20", "@-21", 200),
            ("", "@0", 304), ("", "@-1", 200),
            ("Last-Modified: @-50", "@-50\nIf-Modified-Since: @-50", 200),
            ("Last-Modified: Friday, 15-Jan-27 07:59:00 GMT", "@-50", 304),
        ]
    )
    func ifModifiedSince(stored: String, date: String, expected: Int) {
        let request = CacheSamples.request("If-Modified-Since: \(date)")
        #expect(
            CacheRules.private.served(CacheSamples.entry(stored), to: request, age: 5)?.head.status.code == expected
        )
    }

    @Test("RFC 9110 §13.2.1: conditions are ignored for a stored error")
    func conditionOfError() {
        let entry = CacheSamples.entry("ETag: \"a\"", status: 404)
        #expect(Self.outcome(entry, CacheSamples.request("If-None-Match: \"a\"")) == "404 0..<10")
    }

    @Test("RFC 9110 §15.4.5: a 304 response has the fields that identify and control the stored response")
    func fieldsOfNotModified() {
        let fields =
            "ETag: \"a\"\nDate: @0\nVary: a\nCache-Control: max-age=9\nContent-Type: a/b\nContent-Length: 10\nTest: 1"
        let served = CacheRules.private.served(
            CacheSamples.entry(fields),
            to: CacheSamples.request("If-None-Match: \"a\""),
            age: 5
        )
        let names = served?.head.headerFields.map(\.name.canonicalName)
        #expect(names == ["etag", "date", "vary", "cache-control", "age"])
    }

    @Test(
        "RFC 9110 §14.2: a single range is served from a complete response",
        arguments: [
            ("bytes=0-1", "206 0..<2 bytes 0-1/10"), ("bytes=1-", "206 1..<10 bytes 1-9/10"),
            ("bytes=-1", "206 9..<10 bytes 9-9/10"),
            ("bytes=-99", "206 0..<10 bytes 0-9/10"), ("bytes=5-99", "206 5..<10 bytes 5-9/10"),
            ("BYTES = 0-1", "206 0..<2 bytes 0-1/10"),
            ("bytes=, 0-1 ,", "206 0..<2 bytes 0-1/10"), ("bytes=10-", "416 bytes */10"),
            ("bytes=10-12", "416 bytes */10"),
            ("bytes=-0", "416 bytes */10"), ("bytes=0-1,3-4", "200 0..<10"), ("bytes=2-1", "200 0..<10"),
            ("bytes=", "200 0..<10"),
            ("bytes=-", "200 0..<10"), ("bytes=a-b", "200 0..<10"), ("lines=0-1", "200 0..<10"),
            ("bytes=0-1\nRange: bytes=0-1", "200 0..<10"),
            ("bytes=0-99999999999999999999", "200 0..<10"), ("0-1", "200 0..<10"),
        ]
    )
    func range(range: String, expected: String) {
        #expect(Self.outcome(CacheSamples.entry(), CacheSamples.request("Range: \(range)")) == expected)
    }

    @Test(
        "RFC 9111 §3.3: a part serves only ranges that lie wholly within it",
        arguments: [
            (4, 5, 10, "bytes=6-8", "206 6..<9 bytes 6-8/10"), (4, 5, 10, "bytes=4-8", "206 4..<9 bytes 4-8/10"),
            (4, 5, 10, "bytes=3-8", "origin"),
            (4, 5, 10, "bytes=6-", "origin"), (4, 5, 10, "bytes=-5", "origin"), (4, 5, 10, "foo", "origin"),
            (5, 5, 10, "bytes=-5", "206 5..<10 bytes 5-9/10"),
            (5, 5, 10, "bytes=-1", "206 9..<10 bytes 9-9/10"), (5, 5, 10, "bytes=6-", "206 6..<10 bytes 6-9/10"),
            (5, 5, 10, "bytes=5-99", "206 5..<10 bytes 5-9/10"), (0, 5, nil, "bytes=0-4", "206 0..<5 bytes 0-4/*"),
            (0, 5, nil, "bytes=0-5", "origin"), (0, 5, nil, "bytes=0-", "origin"), (0, 5, nil, "bytes=-1", "origin"),
            (0, 5, 10, "bytes=0-1,2-3", "origin"),
        ] as [(Int, Int, Int?, String, String)]
    )
    func part(first: Int, count: Int, total: Int?, range: String, expected: String) {
        let entry = CacheSamples.entry(first: first, count: count, total: total)
        #expect(Self.outcome(entry, CacheSamples.request("Range: \(range)")) == expected)
    }

    @Test(
        "RFC 9110 §13.1.5: a range applies only if If-Range matches strongly",
        arguments: [
            ("ETag: \"a\"", "\"a\"", 206), ("ETag: \"a\"", "\"b\"", 200), ("ETag: W/\"a\"", "W/\"a\"", 200),
            ("", "\"a\"", 200),
            ("Last-Modified: @-90\nDate: @0", "@-90", 206), ("Last-Modified: @-90\nDate: @0", "@-80", 200),
            ("Last-Modified: @-30\nDate: @0", "@-30", 200), ("Last-Modified: @-90", "@-90", 200),
            ("ETag: \"a\"", "\"a\"\nIf-Range: \"a\"", 200),
        ]
    )
    func ifRange(stored: String, condition: String, expected: Int) {
        let request = CacheSamples.request("Range: bytes=0-1\nIf-Range: \(condition)")
        #expect(
            CacheRules.private.served(CacheSamples.entry(stored), to: request, age: 5)?.head.status.code == expected
        )
    }

    @Test("RFC 9110 §14.2: a range applies to GET and to a stored 200 response only")
    func rangeElsewhere() {
        let request = CacheSamples.request("Range: bytes=0-1", "QUERY")
        #expect(Self.outcome(CacheSamples.entry(), request) == "200 0..<10")
        #expect(Self.outcome(CacheSamples.entry(status: 404), CacheSamples.request("Range: bytes=0-1")) == "404 0..<10")
    }

    @Test("RFC 9110 §9.3.2: HEAD is served from a stored GET response, without content")
    func head() {
        let entry = CacheSamples.entry("Content-Length: 10\nTest: 1")
        let served = CacheRules.private.served(entry, to: CacheSamples.request("Range: bytes=0-1", "HEAD"), age: 5)
        #expect(served?.range == nil)
        #expect(served?.head.status.code == 200)
        #expect(served?.head.headerFields[.contentLength] == "10")
    }

    @Test("RFC 9111 §4: Age is replaced, Date and all other fields are kept")
    func fields() {
        let entry = CacheSamples.entry("Date: @-9\nAge: 3\nTest: 1\nContent-Length: 10")
        let served = CacheRules.private.served(entry, to: CacheSamples.request("Range: bytes=0-1"), age: 5)
        let headers = served?.head.headerFields ?? [:]
        #expect(headers[values: .age] == ["5"])
        #expect(headers[.date] == entry.headers[.date])
        #expect(headers[.contentLength] == "2")
        #expect(headers.contains { $0.name.canonicalName == "test" })
    }

    @Test("An empty response has no range that can be satisfied")
    func empty() {
        let entry = CacheSamples.entry(count: 0, total: 0)
        #expect(Self.outcome(entry, CacheSamples.request("Range: bytes=0-")) == "416 bytes */0")
        #expect(Self.outcome(entry, CacheSamples.request()) == "200 0..<0")
    }
}
