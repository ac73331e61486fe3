import TestSupport
import Testing

@testable import PipelineTransports

@Suite("ProxyExceptions", .watched)
struct ProxyExceptionsTests {
    /// A value of NO_PROXY, a host, and whether curl connects to it directly.
    static let rows: [(String, String, Bool)] = [
        ("*", "example.com", true), ("*", "::1", true), (" *", "example.com", false), ("*,x", "example.com", false),
        ("", "localhost", false), (",", "localhost", false), (".", "localhost", false), ("..", "localhost", false),
        ("localhost", "localhost", true), ("LocalHost", "localhost", true), ("localhost", "LOCALHOST", true),
        ("localhost.", "localhost", true), (".localhost", "localhost", true), ("localhost", "localhost.", true),
        ("localhost", "api.localhost", true), (".localhost", "api.localhost", true),
        ("localhost", "mylocalhost", false), ("api.localhost", "localhost", false),
        ("*.localhost", "a.localhost", false),
        ("example.com", "www.example.com", true), ("example.com", "nonexample.com", false),
        ("example.com", "example.com.evil.test", false), ("com", "example.com", true),
        ("localhost:8080", "localhost", false), ("127.0.0.1:8080", "127.0.0.1", false),
        ("127.0.0.1,localhost", "127.0.0.1", true), ("127.0.0.1,localhost", "localhost", true),
        ("127.0.0.1,localhost", "127.0.0.2", false), ("a , localhost", "localhost", true),
        ("\ta\t,\tlocalhost\t", "localhost", true), (", ,localhost", "localhost", true), (",,a,,b,,", "b", true),
        // curl 7 treats a space as a separator; curl 8 ends the list there.
        ("a localhost", "a", true), ("a localhost", "localhost", false), ("a b,localhost", "localhost", false),
        ("127.0.0.0/8", "127.0.0.1", true), ("127.0.0.0/8", "128.0.0.1", false), ("127.0.0.0/8", "localhost", false),
        ("10.1.0.0/15", "10.0.255.255", true), ("10.1.0.0/15", "10.2.0.0", false),
        ("127.0.0.1/32", "127.0.0.1", true), ("127.0.0.1/32", "127.0.0.2", false),
        ("127.0.0.1/31", "127.0.0.0", true), ("127.0.0.1/0", "127.0.0.1", true), ("127.0.0.1/0", "10.0.0.1", false),
        ("127.0.0.0/33", "127.0.0.0", false), ("127.0.0.0/-1", "127.0.0.0", false), ("127.0.0.1/", "127.0.0.1", false),
        ("127.0.0.1/x", "127.0.0.1", false), ("0.0.1", "127.0.0.1", false), (".127.0.0.1", "127.0.0.1", false),
        ("::1", "::1", true), ("0:0:0:0:0:0:0:1", "::1", true), ("::1/128", "::1", true), ("::/64", "::1", true),
        ("[::1]", "::1", false), ("::2", "::1", false), ("127.0.0.1", "::1", false), ("::/129", "::1", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("localhost", "", false),
    ]

    @Test("Q10 NO_PROXY exempts the same hosts as with curl", arguments: 0..<rows.count)
    func row(_ index: Int) {
        let (text, host, isExempt) = Self.rows[index]
        #expect(ProxyExceptions(text).contains(host) == isExempt, "\(text.debugDescription), \(host)")
    }

    @Test(
        "B34 Where curl does not choose the proxy, an exception may have a port or brackets",
        arguments: [
            ("localhost:8080", "localhost", true), ("localhost:8080", "api.localhost", true),
            ("localhost:80", "localhost", false), ("localhost:", "localhost", false),
            ("localhost:x", "localhost", false),
            ("127.0.0.1:8080", "127.0.0.1", true), ("127.0.0.1:1", "127.0.0.1", false),
            ("[::1]", "::1", true), ("[::1]:8080", "::1", true), ("[::1]:1", "::1", false), ("[::1]x", "::1", false),
            ("[::1", "::1", false), ("[localhost]", "localhost", false), ("[127.0.0.1]", "127.0.0.1", false),
            ("::1", "::1", true), ("::1:8080", "::1", false), ("::/64", "::1", true), (":8080", "localhost", false),
            ("*.localhost,localhost:8080", "localhost", true), ("127.0.0.0/8", "127.0.0.1", true), ("*", "a", true),
        ]
    )
    func port(text: String, host: String, isExempt: Bool) {
        #expect(ProxyExceptions(text).contains(host, port: 8080) == isExempt)
    }

    @Test(
        "B34 Without a port, a request uses that of its scheme",
        arguments: [
            ("http", "a.test", "a.test:80", true), ("https", "a.test", "a.test:443", true),
            ("https", "a.test", "a.test:80", false), ("http", "[::1]", "[::1]:80", true),
            ("http", "[::1]:81", "[::1]:81", true), ("http", "a.test:81", "a.test:80", false),
        ]
    )
    func defaultPort(scheme: String, authority: String, text: String, isDirect: Bool) {
        let variables = ProxyVariables(["all_proxy": "http://proxy.test:1", "no_proxy": text])
        #expect((variables.setting(forScheme: scheme, authority: authority, isForCurl: false) == nil) == isDirect)
        #expect(variables.setting(forScheme: scheme, authority: authority) != nil)
    }
}
