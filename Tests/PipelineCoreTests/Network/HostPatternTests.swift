import Pipeline
import TestSupport
import Testing

@Suite("HostPattern", .watched)
struct HostPatternTests {
    @Test(
        "A pattern matches a host, the hosts below a domain, or every host",
        arguments: [
            ("api.example.com", "API.Example.com.", true), ("api.example.com", "x.api.example.com", false),
            ("*.example.com", "a.example.com", true), ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false), ("*.example.com", "badexample.com", false),
            ("*", "anything", true), ("[2001:db8::1]", "2001:DB8::1", true), ("2001:db8::1", "[2001:db8::1]", true),
            ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.10", false),
        ]
    )
    func matching(text: String, host: String, isMatch: Bool) throws {
        #expect(try #require(HostPattern(text)).matches(host) == isMatch)
    }

    @Test(
        "A text that is not a host is refused",
        arguments: ["", ".", "*.", "*example.com", "a.*.com", "https://a", "a:443", "a/b", "ä.example", "**", "*.::1"]
    )
    func refusal(text: String) { #expect(HostPattern(text) == nil) }

    @Test("The most specific pattern applies")
    func specificity() {
        let rules = HostRules(["*": 1, "*.example.com": 2, "*.api.example.com": 3, "v1.api.example.com": 4])
        let hosts = ["other.test", "www.example.com", "v2.api.example.com", "v1.api.example.com", "example.com"]
        #expect(hosts.map { rules.value(for: $0) } == [1, 2, 3, 4, 1])
        #expect(HostRules(["a.test": 1]).value(for: "b.test") == nil)
    }
}
