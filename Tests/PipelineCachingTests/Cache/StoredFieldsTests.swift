import HTTPTypes
import PipelineAuth
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Fields of stored responses", .watched)
struct StoredFieldsTests {
    /// Returns the names of the stored fields apart from Cache-Control and Date, or the reason of a refusal.
    private static func names(_ fields: String, _ rules: CacheRules = .private, status: Int = 200) -> String {
        let response = CacheSamples.response(status, "Date: @0\nCache-Control: max-age=60\n" + fields)
        let request = CacheSamples.request(status == 206 ? "Range: bytes=0-1" : "")
        switch rules.storing(response, to: request, hasCredential: false, now: CacheSamples.now) {
        case .refuse(let reason): return reason
        case .store(let headers):
            let names = headers.map(\.name.canonicalName).filter { $0 != "cache-control" && $0 != "date" }
            return names.joined(separator: " ")
        }
    }

    @Test(
        "RFC 9111 §3.1: fields of the connection and of proxies, and cookies are not stored",
        arguments: [
            "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
            "Proxy-Connection",
            "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie", "Set-Cookie2",
        ]
    )
    func unstored(name: String) {
        #expect(Self.names("\(name): x\nTest: 1") == "test")
    }

    @Test(
        "RFC 9111 §3.1: all other fields are stored",
        arguments: [
            "Test", "X-Test", "Content-Foo", "Content-Encoding", "Content-Length", "Content-Location", "Content-MD5",
            "Content-Security-Policy", "Content-Type", "Clear-Site-Data", "ETag", "Expires", "Public-Key-Pins",
            "X-Frame-Options",
            "WWW-Authenticate", "Age", "Vary",
        ]
    )
    func stored(name: String) {
        #expect(Self.names("\(name): x") == name.lowercased())
    }

    @Test(
        "RFC 9111 §3.1: the fields that Connection lists are not stored",
        arguments: [
            ("Connection: a, B\na: 1\nb: 2\nc: 3", "c"), ("Connection: a\nConnection: b\na: 1\nb: 2\nc: 3", "c"),
            ("Connection: close, ,(\nc: 3", "c"), ("Connection: a\na: 1\na: 2", ""),
        ]
    )
    func connection(fields: String, expected: String) {
        #expect(Self.names(fields) == expected)
    }

    @Test(
        "RFC 9111 §5.2.2.7: the fields that private or no-cache list are not stored",
        arguments: [
            ("private", "Cache-Control: no-cache=\"a\"\na: 1\nb: 2", "b"),
            ("shared", "Cache-Control: no-cache=\"a, b\"\na: 1\nb: 2\nc: 3", "c"),
            ("shared", "Cache-Control: private=\"a\"\na: 1\nb: 2", "b"),
            ("private", "Cache-Control: private=\"a\"\na: 1\nb: 2", "a b"),
        ]
    )
    func restricted(rules: String, fields: String, expected: String) {
        #expect(Self.names(fields, CacheSamples.rules(rules)) == expected)
    }

    @Test(
        "A response is not stored if a field that its reuse depends on would be removed",
        arguments: [
            ("Connection: vary\nVary: a", "removed vary"), ("Connection: cache-control", "removed cache-control"),
            ("Connection: age\nAge: 5", "removed age"), ("Connection: vary\nTest: 1", "test"),
            ("Cache-Control: no-cache=\"vary\"\nVary: a", "removed vary"), ("Connection: date", "removed date"),
        ]
    )
    func needed(fields: String, expected: String) {
        #expect(Self.names(fields) == expected)
    }

    @Test("A targeted field that applies is not removed")
    func neededTargetedField() {
        let fields = "CDN-Cache-Control: max-age=5\nConnection: cdn-cache-control"
        #expect(Self.names(fields, CacheSamples.targeted) == "removed cdn-cache-control")
    }

    @Test("RFC 9111 §3.4: a part is stored without its position and length")
    func part() {
        #expect(Self.names("Content-Range: bytes 0-1/10\nContent-Length: 2\nTest: 1", status: 206) == "test")
    }

    @Test("RFC 9110 §6.6.1: Date is added if it is missing, and kept if it is invalid")
    func date() {
        func date(_ fields: String) -> String? {
            let response = CacheSamples.response(200, "Cache-Control: max-age=60\n" + fields)
            let result = CacheRules.private.storing(
                response,
                to: CacheSamples.request(),
                hasCredential: false,
                now: CacheSamples.now
            )
            guard case .store(let headers) = result else { return nil }
            return headers[.date]
        }
        #expect(date("") == "Fri, 15 Jan 2027 08:00:00 GMT")
        #expect(date("Date: foo") == "foo")
    }
}
