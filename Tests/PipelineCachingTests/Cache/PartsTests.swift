import Foundation
import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Completion of stored parts", .watched)
struct PartsTests {
    @Test(
        "RFC 9111 §3.3: the rest of a response is asked for if it has a strong validator",
        arguments: [
            ("ETag: \"a\"", 0, 5, 10, "", "bytes=5- \"a\""), ("ETag: \"a\"", 0, 5, nil, "", "bytes=5- \"a\""),
            ("ETag: W/\"a\"", 0, 5, 10, "", nil), ("", 0, 5, 10, "", nil), ("ETag: \"a\"", 1, 5, 10, "", nil),
            ("ETag: \"a\"", 0, 0, 10, "", nil),
            ("ETag: \"a\"", 0, 10, 10, "", nil), ("ETag: \"a\"", 0, 5, 10, "Range: bytes=0-", nil),
            ("ETag: \"a\"", 0, 5, 10, "If-None-Match: \"b\"", nil),
            ("Last-Modified: @-99\nDate: @0", 0, 5, 10, "", "bytes=5- Fri, 15 Jan 2027 07:58:21 GMT"),
            ("Last-Modified: @-9\nDate: @0", 0, 5, 10, "", nil),
            ("ETag: W/\"a\"\nLast-Modified: @-99\nDate: @0", 0, 5, 10, "", nil),
        ] as [(String, Int, Int, Int?, String, String?)]
    )
    func asking(stored: String, first: Int, count: Int, total: Int?, request: String, expected: String?) {
        let entry = CacheSamples.entry(stored, first: first, count: count, total: total)
        let fields = CacheRules.private.askingForRest(CacheSamples.request(request), of: entry)?.headerFields
        #expect(fields.map { "\($0[.range] ?? "") \($0[.ifRange] ?? "")" } == expected)
    }

    @Test("RFC 9110 §14.2: a rest is asked for with GET only")
    func askingMethod() {
        let entry = CacheSamples.entry("ETag: \"a\"", count: 5)
        #expect(CacheRules.private.askingForRest(CacheSamples.request("", "QUERY"), of: entry) == nil)
    }

    @Test(
        "RFC 9111 §3.4: a part continues an entry if both have the same strong validator and it begins where the entry ends",
        arguments: [
            (206, "ETag: \"a\"", "ETag: \"a\"", "bytes 5-9/10", true),
            (206, "ETag: \"a\"", "ETag: \"a\"", "bytes 5-6/*", true),
            (206, "ETag: \"a\"", "ETag: \"b\"", "bytes 5-9/10", false),
            (206, "ETag: W/\"a\"", "ETag: W/\"a\"", "bytes 5-9/10", false),
            (206, "ETag: \"a\"", "", "bytes 5-9/10", false), (206, "", "", "bytes 5-9/10", false),
            (206, "ETag: \"a\"", "ETag: \"a\"", "bytes 6-9/10", false),
            (206, "ETag: \"a\"", "ETag: \"a\"", "bytes 4-9/10", false),
            (206, "ETag: \"a\"", "ETag: \"a\"", "bytes 5-9/11", false),
            (200, "ETag: \"a\"", "ETag: \"a\"", "bytes 5-9/10", false),
            (206, "ETag: \"a\"", "ETag: \"a\"\nContent-Encoding: br", "bytes 5-9/10", false),
            (206, "Last-Modified: @-99\nDate: @0", "Last-Modified: @-99", "bytes 5-9/10", true),
            (206, "ETag: \"a\"\nLast-Modified: @-99\nDate: @0", "Last-Modified: @-99", "bytes 5-9/10", false),
            (206, "Last-Modified: @-99\nDate: @0", "Last-Modified: @-98", "bytes 5-9/10", false),
            (206, "Last-Modified: @-9\nDate: @0", "Last-Modified: @-9", "bytes 5-9/10", false),
        ]
    )
    func continuation(status: Int, stored: String, response: String, range: String, isExpected: Bool) {
        let entry = CacheSamples.entry(stored, count: 5)
        let response = CacheSamples.response(status, response + "\nContent-Range: \(range)")
        let part = CacheRules.private.continuation(of: entry, by: response)
        #expect((part?.range.lowerBound == 5) == isExpected)
    }
}
