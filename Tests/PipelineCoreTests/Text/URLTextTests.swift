import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("URLText", .watched)
struct URLTextTests {
    /// A base, a path and the joined URL.
    static let joins: [(String, String, String)] = [
        ("https://h", "", "https://h"),
        ("http://h/a/?x=1", "", "http://h/a/?x=1"),
        ("https://h", "/zen", "https://h/zen"),
        ("https://h", "zen", "https://h/zen"),
        ("https://h/", "/zen", "https://h/zen"),
        ("https://h/", "zen", "https://h/zen"),
        ("https://h//", "//zen", "https://h/zen"),
        ("https://h/v1", "users/1", "https://h/v1/users/1"),
        ("https://h/v1/", "/users/1/", "https://h/v1/users/1/"),
        ("https://h/v1", "/", "https://h/v1/"),
        ("https://h/v1", "//", "https://h/v1/"),
        ("https://h/v1", "/a//b", "https://h/v1/a//b"),
        ("https://h/v1?key=1", "/a", "https://h/v1/a?key=1"),
        ("https://h?key=1", "a", "https://h/a?key=1"),
        ("https://h/v1/?key=1#f", "/a", "https://h/v1/a?key=1#f"),
        ("https://h/v1?a=b/c", "/d", "https://h/v1/d?a=b/c"),
        ("https://h#f", "a", "https://h/a#f"),
        ("https://h", "/a b", "https://h/a%20b"),
        ("https://h", "/a%20b", "https://h/a%20b"),
        ("https://h", "/a%2Fb%2fc", "https://h/a%2Fb%2fc"),
        ("https://h", "/100%", "https://h/100%25"),
        ("https://h", "/%zz%2", "https://h/%25zz%252"),
        ("https://h", "/a?b=c", "https://h/a%3Fb=c"),
        ("https://h", "/a#b", "https://h/a%23b"),
        ("https://h", "/a+b", "https://h/a+b"),
        ("https://h", "/[1]", "https://h/%5B1%5D"),
        ("https://h", "/a\\b", "https://h/a%5Cb"),
        ("https://h", "/é/漢", "https://h/%C3%A9/%E6%BC%A2"),
        ("https://h", "/a:b@c;d=e,f!$&'()*", "https://h/a:b@c;d=e,f!$&'()*"),
        ("https://h", "https://evil.example/x", "https://h/https://evil.example/x"),
        ("https://h", "//evil.example/x", "https://h/evil.example/x"),
        ("https://h", "@evil.example", "https://h/@evil.example"),
        ("https://h", ":80@evil.example", "https://h/:80@evil.example"),
        ("https://h", ".evil.example", "https://h/.evil.example"),
        ("https://h", "\\\\evil.example", "https://h/%5C%5Cevil.example"),
        ("https://h/caf%C3%A9", "/a", "https://h/caf%C3%A9/a"),
        ("https://[::1]:8080/v1", "a", "https://[::1]:8080/v1/a"),
    ]

    @Test("Q06 M4 M5 B-M18 A base and a path are joined to the expected URL", arguments: 0..<joins.count)
    func joining(_ row: Int) {
        let (base, path, whole) = Self.joins[row]
        #expect(URLText.joining(base: base, path: path) == whole)
    }

    @Test("A base and a path give the same target as their joined URL", arguments: 0..<joins.count)
    func joinedTarget(_ row: Int) {
        let (base, path, _) = Self.joins[row]
        let joined = Result { try URLText.requestTarget(of: URLText.joining(base: base, path: path)) }
        let apart = Result { try URLText.requestTarget(base: base, path: path) }
        #expect((try? apart.get()) == (try? joined.get()))
        #expect("\(apart)" == "\(joined)")
    }

    /// A URL, and its scheme, authority and path.
    static let targets: [(String, String, String, String)] = [
        ("http://h", "http", "h", "/"),
        ("https://h/", "https", "h", "/"),
        ("HTTPS://Example.COM/Path", "https", "example.com", "/Path"),
        ("hTTp://H:80/x", "http", "h", "/x"),
        ("https://h:443/x", "https", "h", "/x"),
        ("http://h:443/x", "http", "h:443", "/x"),
        ("https://h:80/x", "https", "h:80", "/x"),
        ("http://h:/x", "http", "h", "/x"),
        ("http://h:1/", "http", "h:1", "/"),
        ("http://h:65535/", "http", "h:65535", "/"),
        ("http://h:00080/", "http", "h", "/"),
        ("http://h:08080/", "http", "h:8080", "/"),
        ("http://h./x", "http", "h.", "/x"),
        ("http://127.0.0.1/x", "http", "127.0.0.1", "/x"),
        ("http://xn--bcher-kva.example/", "http", "xn--bcher-kva.example", "/"),
        ("http://a_b-c~d/", "http", "a_b-c~d", "/"),
        ("http://[::1]/x", "http", "[::1]", "/x"),
        ("http://[::1]:80/x", "http", "[::1]", "/x"),
        ("http://[2001:DB8::A]:8080/x", "http", "[2001:db8::a]:8080", "/x"),
        ("http://[::ffff:1.2.3.4]/", "http", "[::ffff:1.2.3.4]", "/"),
        ("http://h?", "http", "h", "/?"),
        ("http://h?a=b", "http", "h", "/?a=b"),
        ("http://h/?", "http", "h", "/?"),
        ("http://h/p?a?b/c", "http", "h", "/p?a?b/c"),
        ("http://h/p#", "http", "h", "/p"),
        ("http://h#f?x", "http", "h", "/"),
        ("http://h/p?a=b#f", "http", "h", "/p?a=b"),
        ("http://h/p#a\r\nX: y", "http", "h", "/p"),
        ("http://h/a+b?c+d=%20", "http", "h", "/a+b?c+d=%20"),
        ("http://h/%2e%41%2F%c3", "http", "h", "/%2e%41%2F%c3"),
        ("http://h/?hd=[1]&a[]=2", "http", "h", "/?hd=%5B1%5D&a%5B%5D=2"),
        ("http://h/a/./b/../c", "http", "h", "/a/c"),
        ("http://h/a/b/..", "http", "h", "/a/"),
        ("http://h/a/b/.", "http", "h", "/a/b/"),
        ("http://h/..", "http", "h", "/"),
        ("http://h/../../x", "http", "h", "/x"),
        ("http://h/a/../../../x?y=../z", "http", "h", "/x?y=../z"),
        ("http://h/.well-known/x", "http", "h", "/.well-known/x"),
        ("http://h/.../x..y/..z", "http", "h", "/.../x..y/..z"),
        ("http://h//", "http", "h", "//"),
        ("http://h//a/b", "http", "h", "//a/b"),
        ("http://h//a/./b", "http", "h", "//a/b"),
        ("http://h//a/../b", "http", "h", "//b"),
        ("http://h/a//../b", "http", "h", "/a/b"),
        ("http://h/a@b:80", "http", "h", "/a@b:80"),
        ("http://h/http://x/y", "http", "h", "/http://x/y"),
    ]

    @Test("The error for an invalid URL shows the URL, whatever is wrong with it")
    func namedByError() {
        for url in [
            "/x", "h.test", "https://", "ftp://h.test/", "https://a@h.test/", "https://h.test:x/", "https://h.test/ ",
        ] {
            let error = #expect(throws: PipelineError.self) { try URLText.requestTarget(of: url) }
            #expect(error?.reason.hasSuffix(": " + URLText.shown(url)) == true, "\(url)")
        }
        let empty = #expect(throws: PipelineError.self) { try URLText.requestTarget(of: "") }
        #expect(empty?.reason == "the URL is empty")
    }

    @Test("Q06 A URL is parsed into the expected scheme, authority and path", arguments: 0..<targets.count)
    func target(_ row: Int) throws {
        let (url, scheme, authority, path) = Self.targets[row]
        let target = try URLText.requestTarget(of: url)
        #expect(target == URLText.RequestTarget(scheme: scheme, authority: authority, pathAndQuery: path))
    }

    /// A URL that cannot be requested and its invalid part.
    static let refused: [(String, PipelineError.Code.RequestPart)] = [
        ("", .url), ("h", .url), ("/p", .url), ("//h/p", .url), ("some invalid URL", .url), (" http://h/", .url),
        ("\thttp://h/", .url), ("1http://h/", .url), (":", .url), ("://h", .url), ("ht tp://h", .url),
        ("http:", .url), ("http:/", .url), ("http:h", .url), ("http:/h/p", .url), ("http:\\\\h", .url),
        ("http://", .url), ("http:///x", .url), ("http://?a", .url), ("http://#a", .url), ("http://:80/", .url),
        ("ftp://h/", .scheme), ("file:///etc/passwd", .scheme), ("h:80/p", .scheme), ("httpx://h", .scheme),
        ("data:text/plain,x", .scheme), ("ws://h/", .scheme),
        ("http://user:p@h/", .userInfo), ("http://user@h", .userInfo), ("http://@h/", .userInfo),
        ("http://a@b@h/", .userInfo), ("http://:@h/", .userInfo),
        ("http://a%2Fb/", .url), ("http://a%41/", .url), ("http://a\\b/", .url), ("http://a b/", .url),
        ("http://h\r\nX: y/", .url), ("http://h\n", .url), ("http://h\u{0}/", .url), ("http://b\u{fc}cher/", .url),
        ("http://h:0/", .url), ("http://h:65536/", .url), ("http://h:999999/", .url), ("http://h:80a/", .url),
        ("http://h:-1/", .url), ("http://h:+80/", .url), ("http://h:80:80/", .url), ("http://h: 80/", .url),
        ("http://h:\u{664}/", .url),
        ("http://[::1/", .url), ("http://[]/", .url), ("http://[::1]x/", .url), ("http://[::1]80/", .url),
        ("http://[fe80::1%25eth0]/", .url), ("http://[fe80::1%eth0]/", .url), ("http://[v1.x]/", .url),
        ("http://[1.2.3.4]/", .url), ("http://[.]/", .url),
        ("http://::1/", .url), ("http://h]/", .url), ("http://[::1]:0/", .url),
        ("http://h/a b", .url), ("http://h/é", .url), ("http://h/a\r\nX: y", .url), ("http://h/a\u{7f}", .url),
        ("http://h/a?b c", .url), ("http://h/a?b\r\n", .url), ("http://h/?\u{0}", .url), ("http://h/?é", .url),
        ("http://h/%", .url), ("http://h/%2", .url), ("http://h/%zz", .url), ("http://h/?%", .url),
        ("http://h/?%g0", .url),
        ("http://h/a%2#0", .url), ("http://h/a%2?0", .url),
        ("http://h/[1]", .url), ("http://h/a\\b", .url), ("http://h/a|b", .url), ("http://h/?a|b", .url),
        ("http://h/\"", .url), ("http://h/<>", .url), ("http://h/^`{}", .url),
    ]

    @Test(
        "Q04 Q06 Q08 B-M19 A URL that cannot be sent is refused, and the error names the invalid part",
        arguments: 0..<refused.count
    )
    func refusal(_ row: Int) {
        let (url, part) = Self.refused[row]
        let error = #expect(throws: PipelineError.self) { try URLText.requestTarget(of: url) }
        #expect(error?.code == .invalidRequest(part))
    }

    @Test("Q06 A URL of 64 KB is accepted unchanged")
    func longURL() throws {
        let path = "/" + String(repeating: "a/", count: 32 << 10)
        #expect(try URLText.requestTarget(of: "http://h" + path).pathAndQuery == path)
        let query = "?" + String(repeating: "q", count: 64 << 10)
        #expect(try URLText.requestTarget(of: "http://h/" + query).pathAndQuery == "/" + query)
    }

    @Test("Q04 No path changes the origin or lets a control character through", arguments: 0..<20)
    func randomPaths(_ seed: UInt64) throws {
        var random = PipelineRandom.seeded(seed)
        let bases = ["https://h", "https://h/", "https://h/v1", "https://h/v1/?k=1", "https://H:443/a%20b?x#f"]
        for _ in 0..<100 {
            let base = try #require(bases.randomElement(using: &random))
            let path = random.makeString(upTo: 24)
            let hasControl = path.utf8.contains { $0 < 0x20 || $0 == 0x7f }
            let target = try? URLText.requestTarget(of: URLText.joining(base: base, path: path))
            #expect((target == nil) == hasControl, "\(path.debugDescription)")
            guard let target else { continue }
            #expect(target.scheme == "https" && target.authority == "h", "\(path.debugDescription)")
            #expect(target.pathAndQuery.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") })
            #expect(target.pathAndQuery.hasPrefix("/"))
            #expect(target.pathAndQuery.count { $0 == "?" } == (base.contains("?") ? 1 : 0))
        }
    }
}
