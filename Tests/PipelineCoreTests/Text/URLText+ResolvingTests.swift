import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("URLText: resolving", .watched)
struct URLTextResolvingTests {
    /// A reference and the URL that it resolves to against http://h:8080/a/b?q.
    static let references: [(String, String?)] = [
        ("c", "http://h:8080/a/c"), ("./c", "http://h:8080/a/c"), ("../c", "http://h:8080/c"),
        ("../../c", "http://h:8080/c"), (".", "http://h:8080/a/"), ("..", "http://h:8080/"),
        ("/c", "http://h:8080/c"), ("/c?d#e", "http://h:8080/c?d"), ("?c", "http://h:8080/a/b?c"),
        ("?", "http://h:8080/a/b?"), ("#c", "http://h:8080/a/b?q"), ("c?d=/../e", "http://h:8080/a/c?d=/../e"),
        ("//x", "http://x/"), ("//X/p", "http://x/p"), ("//x:80/p", "http://x/p"), ("https://x/p", "https://x/p"),
        ("HTTP://X", "http://x/"), ("/a/../b", "http://h:8080/b"), ("  /c", "http://h:8080/c"),
        ("/a b", "http://h:8080/a%20b"), ("/é", "http://h:8080/%C3%A9"), ("/%41", "http://h:8080/%41"),
        ("/%", "http://h:8080/%25"), ("/a\\b", "http://h:8080/a%5Cb"), ("\\\\x", "http://h:8080/a/%5C%5Cx"),
        ("/\\x", "http://h:8080/%5Cx"), ("@x", "http://h:8080/a/@x"), ("./c:d", "http://h:8080/a/c:d"),
        ("c/d:e", "http://h:8080/a/c/d:e"), (".x", "http://h:8080/a/.x"),
        ("", nil), ("   ", nil), ("c:d", nil), ("http:c", nil), ("http:///c", nil), ("ftp://x/", nil),
        ("javascript:alert(1)", nil), ("//", nil), ("///c", nil), ("//u:p@x/", nil), ("https://u@x/", nil),
        ("//x:0/", nil), ("//x:65536/", nil), ("//a b/", nil), ("//a%2Fb/", nil), ("http:\\\\x/", nil),
        ("/a\r\nX: y", nil), ("/a\u{0}", nil), ("//x\n/", nil), ("/[", nil),
    ]

    @Test("Q06 A Location resolves to the expected URL or to none", arguments: 0..<references.count)
    func resolving(_ row: Int) {
        let (reference, url) = Self.references[row]
        let base = URLText.RequestTarget(scheme: "http", authority: "h:8080", pathAndQuery: "/a/b?q")
        let target = URLText.resolve(reference, against: base)
        #expect(target.map { "\($0.scheme)://\($0.authority)\($0.pathAndQuery)" } == url)
    }

    @Test(
        "A Location after OPTIONS * is resolved against the root, on the same host",
        arguments: ["x", ".x/", "?x", "#x"]
    )
    func resolvingAgainstAsterisk(_ reference: String) {
        let base = URLText.RequestTarget(scheme: "https", authority: "h", pathAndQuery: "*")
        #expect(URLText.resolve(reference, against: base)?.authority == "h")
    }
}
