import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("ProxyVariables", .watched)
struct ProxyVariablesTests {
    /// Variables, and the one that applies to http and to https.
    static let choices: [([String: String], String?, String?)] = [
        ([:], nil, nil),
        (["http_proxy": "p"], "http_proxy", nil), (["HTTP_PROXY": "p"], nil, nil),
        (["https_proxy": "p"], nil, "https_proxy"), (["HTTPS_PROXY": "p"], nil, "HTTPS_PROXY"),
        (["https_proxy": "p", "HTTPS_PROXY": "q"], nil, "https_proxy"),
        (["all_proxy": "p"], "all_proxy", "all_proxy"), (["ALL_PROXY": "p"], "ALL_PROXY", "ALL_PROXY"),
        (["all_proxy": "p", "ALL_PROXY": "q"], "all_proxy", "all_proxy"),
        (["http_proxy": "p", "HTTPS_PROXY": "q", "all_proxy": "r"], "http_proxy", "HTTPS_PROXY"),
        (["http_proxy": "", "all_proxy": "r"], "all_proxy", "all_proxy"),
        (["all_proxy": "p", "no_proxy": "localhost"], nil, nil),
        (["all_proxy": "p", "NO_PROXY": "localhost"], nil, nil),
        (["all_proxy": "p", "no_proxy": "x", "NO_PROXY": "localhost"], "all_proxy", "all_proxy"),
        (["all_proxy": "p", "no_proxy": "", "NO_PROXY": "*"], nil, nil),
    ]

    @Test("Q10 The same variable applies as with curl", arguments: 0..<choices.count)
    func choice(_ index: Int) {
        let (values, http, https) = Self.choices[index]
        let variables = ProxyVariables(values)
        #expect(variables.setting(forScheme: "http", authority: "localhost:8080")?.variable == http)
        #expect(variables.setting(forScheme: "https", authority: "localhost:8080")?.variable == https)
    }

    @Test(
        "The host of an authority has no user name, port, brackets and percent-encoding",
        arguments: [
            ("api.test", "api.test"), ("api.test:8080", "api.test"), ("ann:word@api.test:80", "api.test"),
            ("a@b@%61pi%2Etest", "api.test"), ("[::1]:80", "::1"), ("ann@[::1]", "::1"), ("%zz", "%zz"), ("", ""),
        ]
    )
    func host(authority: String, host: String) {
        #expect(ProxyVariables.host(of: authority) == host)
    }

    private static let custom = HTTPField.Name("X-Custom")

    private func request(_ url: String, _ name: HTTPField.Name? = nil, isSecret: Bool = false) throws -> PipelineRequest
    {
        var request = try PipelineRequest(url: url)
        if let name { try request.setHeader("canary", for: name, isSecret: isSecret) }
        return request
    }

    @Test("Q10 An http request with a credential to a loopback address is refused if a variable applies")
    func refused() throws {
        let custom = try #require(Self.custom)
        let variables = ProxyVariables(["http_proxy": "http://canary:canary@proxy.test"])
        for request in [
            try request("http://127.0.0.1:8080/x", .authorization), try request("http://localhost", .cookie),
            try request("http://[::1]:80/", .proxyAuthorization),
            try request("http://a.localhost/", custom, isSecret: true),
            try request("http://127.0.0.1/x?a=1&access%5Ftoken=canary"),
        ] {
            let failure = ProxyVariables.failure(of: request) { variables }
            #expect(failure?.code == .invalidRequest(.credential), "\(request)")
            #expect(failure?.reason.contains("http_proxy") == true)
            #expect(failure?.reason.contains("NO_PROXY=127.0.0.1,localhost") == true)
            #expect(failure?.reason.contains("canary") == false)
        }
    }

    @Test("Q10 A request without a credential, over https, to another host, or without a proxy is not refused")
    func allowed() throws {
        let variables = ProxyVariables(["all_proxy": "proxy.test"])
        for request in [
            try request("http://127.0.0.1:8080/x?sort=1&page=2"), try request("http://127.0.0.1:8080/x", Self.custom),
            try request("https://127.0.0.1/x", .authorization), try request("http://api.test/x", .authorization),
        ] {
            #expect(ProxyVariables.failure(of: request, { variables }) == nil, "\(request)")
        }
        let loopback = try request("http://127.0.0.1:8080/x", .authorization)
        for values in [[:], ["https_proxy": "p"], ["all_proxy": "p", "NO_PROXY": "127.0.0.0/8"]] {
            #expect(ProxyVariables.failure(of: loopback, { ProxyVariables(values) }) == nil, "\(values)")
        }
    }

    @Test("Q10 The refusal names the host and the exceptions variable that is in effect")
    func remedy() throws {
        let variables = ProxyVariables(["ALL_PROXY": "p", "no_proxy": "example.com", "NO_PROXY": "*"])
        let failure = ProxyVariables.failure(of: try request("http://[::1]:8080/x", .authorization)) { variables }
        let expected = """
            the environment variable ALL_PROXY would send the credential of a loopback request to a proxy in clear text; \
            add ::1 to no_proxy, for example no_proxy=127.0.0.1,localhost
            """
        #expect(failure?.reason == expected)
    }
}
