import Foundation
import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Validation of stored responses", .watched)
struct ValidationTests {
    @Test(
        "RFC 9111 §4.3.1: a validation lists the entity tags of all entries, and Last-Modified of a single one",
        arguments: [
            (["ETag: \"a\""], "", "\"a\"", nil), (["ETag: W/\"a\""], "", "W/\"a\"", nil),
            (["Last-Modified: @-5"], "", nil, -5),
            (["ETag: \"a\"\nLast-Modified: @-5"], "", "\"a\"", -5),
            (["ETag: \"a\"", "ETag: \"b\"", "ETag: \"a\""], "", "\"a\", \"b\"", nil),
            (["ETag: \"a\"", "Last-Modified: @-5"], "", "\"a\"", nil), (["ETag: a"], "", "a", nil),
            (["ETag: W/a"], "", "W/a", nil), (["ETag: a,b"], "", nil, nil), (["ETag: \"a"], "", nil, nil),
            (["ETag: *"], "", nil, nil), (["ETag: a b"], "", nil, nil),
            ([""], "", nil, nil),
            (["ETag: \"a\"\nETag: \"b\""], "", nil, nil), ([], "", nil, nil),
            (["ETag: \"a\""], "If-None-Match: \"x\"", "\"x\"", nil),
            (["ETag: \"a\""], "Range: bytes=0-1", nil, nil), (["ETag: \"a\""], "If-Modified-Since: @-9", nil, -9),
        ] as [([String], String, String?, Double?)]
    )
    func conditions(entries: [String], request: String, tags: String?, modified: Double?) {
        let result = CacheRules.private.validating(
            CacheSamples.request(request),
            with: entries.map { CacheSamples.entry($0) }
        )
        #expect(result.headerFields[.ifNoneMatch] == tags)
        #expect(result.headerFields[.ifModifiedSince] == modified.flatMap { CacheDate.text(CacheSamples.now + $0) })
    }

    @Test("RFC 9111 §3.3: an incomplete response is not validated")
    func incomplete() {
        let entry = CacheSamples.entry("ETag: \"a\"", count: 5)
        #expect(CacheRules.private.validating(CacheSamples.request(), with: [entry]) == CacheSamples.request())
        #expect(CacheRules.private.selected(by: CacheSamples.response(304, "ETag: \"a\""), among: [entry]) == nil)
    }

    @Test(
        "RFC 9111 §4.3.4: a 304 response confirms the latest entry with its validator",
        arguments: [
            ("ETag: \"a\"", ["ETag: \"a\"", "ETag: \"b\""], 0), ("ETag: \"b\"", ["ETag: \"a\"", "ETag: \"b\""], 1),
            ("ETag: a", ["ETag: a", "ETag: b"], 0), ("ETag: c", ["ETag: a"], nil), ("", ["ETag: a"], 0),
            ("ETag: a", ["ETag: \"a\""], nil),
            ("ETag: \"c\"", ["ETag: \"a\""], nil), ("ETag: \"a\"", ["ETag: W/\"a\""], nil),
            ("ETag: W/\"a\"", ["ETag: \"a\""], 0),
            ("ETag: W/\"a\"", ["ETag: W/\"a\"", "ETag: W/\"a\""], 1),
            ("Last-Modified: @-5", ["Last-Modified: @-5", "Last-Modified: @-6"], 0),
            ("Last-Modified: @-5", ["Last-Modified: @-6"], nil), ("", ["ETag: \"a\""], 0),
            ("", ["ETag: \"a\"", "ETag: \"b\""], nil),
            ("ETag: \"a\"\nLast-Modified: @-5", ["ETag: \"a\"\nLast-Modified: @-6"], 0), ("", [], nil),
        ] as [(String, [String], Int?)]
    )
    func selection(response: String, entries: [String], expected: Int?) {
        let entries = entries.enumerated().map { CacheSamples.entry($1, receivedAt: Double($0)) }
        let selected = CacheRules.private.selected(by: CacheSamples.response(304, response), among: entries)
        #expect(selected == expected.map { entries[$0] })
    }

    @Test(
        "RFC 9111 §3.2: a 304 response updates stored fields, but not those that describe the stored bytes",
        arguments: [
            ("Test: 1", "Test: 2", "Test", "2"), ("Test: 1", "", "Test", "1"), ("", "Test: 2", "Test", "2"),
            ("Test: 1\nTest: 2", "Test: 3", "Test", "3"),
            ("Cache-Control: max-age=1", "Cache-Control: max-age=9", "Cache-Control", "max-age=9"),
            ("Content-Foo: 1", "Content-Foo: 2", "Content-Foo", "2"),
            ("Content-Length: 36", "Content-Length: 10", "Content-Length", "36"),
            ("Content-Encoding: gzip", "Content-Encoding: br", "Content-Encoding", "gzip"),
            ("", "Content-Encoding: br", "Content-Encoding", nil),
            ("", "Content-Range: bytes 0-1/2", "Content-Range", nil),
            ("Content-Type: a/b", "Content-Type: a/c", "Content-Type", "a/c"),
            ("", "Set-Cookie: a=b", "Set-Cookie", nil),
            ("", "Connection: x\nX: 1", "X", nil), ("X: 0", "Connection: x\nX: 1", "X", "0"),
            ("", "Keep-Alive: 1", "Keep-Alive", nil),
            ("Age: 500", "", "Age", nil), ("Age: 500", "Age: 7", "Age", "7"),
            ("Date: @-500", "Date: foo", "Date", "foo"),
            ("A: 1", "Cache-Control: no-cache=\"a\"\nA: 2", "A", "1"),
        ] as [(String, String, String, String?)]
    )
    func update(stored: String, response: String, name: String, expected: String?) throws {
        let entry = CacheSamples.entry(stored)
        let later = CacheSamples.now + 100
        let updated = CacheRules.private.refreshed(
            entry,
            by: CacheSamples.response(304, response),
            requestDate: later - 2,
            responseDate: later
        )
        #expect(updated.headers[try #require(HTTPField.Name(name))] == expected)
        #expect(updated.requestDate == later - 2 && updated.responseDate == later)
        #expect(updated.id == entry.id && updated.statusCode == 200 && updated.byteCount == entry.byteCount)
    }

    @Test("RFC 9111 §4.3.4: a confirmed response is fresh again, even if the 304 response has no Date")
    func freshAgain() {
        let entry = CacheSamples.entry("Cache-Control: max-age=10\nDate: @0\nAge: 5")
        let later = CacheSamples.now + 1_000
        let updated = CacheRules.private.refreshed(
            entry,
            by: CacheSamples.response(304),
            requestDate: later,
            responseDate: later
        )
        #expect(CacheRules.private.freshness(of: updated, at: later).age == 0)
    }

    @Test(
        "RFC 9111 §4.3.5: a response to HEAD updates an entry unless its validator or length differs",
        arguments: [
            (200, "Test: 1", "Test: 2", "2"), (200, "Test: 1\nETag: \"a\"", "Test: 2\nETag: \"a\"", "2"),
            (200, "ETag: \"a\"", "ETag: \"b\"", nil),
            (200, "", "ETag: \"b\"", nil), (200, "Last-Modified: @-5", "Last-Modified: @-4", nil),
            (200, "Test: 1", "Test: 2\nContent-Length: 10", "2"),
            (200, "Test: 1", "Content-Length: 11", nil),
            (200, "Content-Length: 36", "Test: 2\nContent-Length: 36", "2"),
            (410, "Test: 1", "Test: 2\nETag: \"b\"", "1"), (500, "Test: 1", "Test: 2", "1"),
        ] as [(Int, String, String, String?)]
    )
    func head(status: Int, stored: String, response: String, expected: String?) throws {
        let updated = CacheRules.private.refreshedByHead(
            CacheSamples.entry(stored),
            by: CacheSamples.response(status, response),
            requestDate: CacheSamples.now + 5,
            responseDate: CacheSamples.now + 5
        )
        #expect(updated?.headers[try #require(HTTPField.Name("Test"))] == expected)
    }
}
