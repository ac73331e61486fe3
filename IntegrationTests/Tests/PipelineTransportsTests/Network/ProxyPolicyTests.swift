import Pipeline
import TestSupport
import Testing

@testable import PipelineCore
@testable import PipelineTransports

@Suite("ProxyPolicy", .watched)
struct ProxyPolicyTests {
    private typealias Policy = AsyncHTTPClientTransport.ProxyPolicy

    private static let canary = Policy.Credential(username: "canary-user", password: "canary-word")

    private func name(_ policy: Policy, _ url: String) throws -> String? {
        try ProxyChoices(policy, .fake())?.choice(for: PipelineRequest(url: url))?.name
    }

    @Test("One proxy applies to every host but the exceptions")
    func exceptions() throws {
        let policy = Policy.proxy(.https(host: "p.test", port: 3128), except: "10.0.0.0/8,.internal.test")
        for url in ["http://api.test", "https://api.test:8443/x", "https://[::1]"] {
            #expect(try name(policy, url) == "the https proxy p.test:3128")
        }
        for url in ["http://10.1.2.3:80/", "https://a.internal.test"] { #expect(try name(policy, url) == nil) }
        #expect(try name(.proxy(.direct), "http://api.test") == nil)
        #expect(try name(.configuration, "http://api.test") == nil)
    }

    @Test("Of several rules, the most specific one applies; without one, the connection is direct")
    func rules() throws {
        let policy = Policy.rules([
            "*": .http(host: "a", port: 1), "*.internal.test": .direct,
            "x.internal.test": .socks5(host: "::1", port: 2),
        ])
        #expect(try name(policy, "https://api.test") == "the http proxy a:1")
        #expect(try name(policy, "https://y.internal.test:8443") == nil)
        #expect(try name(policy, "https://X.internal.test") == "the socks5 proxy [::1]:2")
        #expect(try name(.rules(["api.test": .http(host: "a", port: 1)]), "https://other.test") == nil)
    }

    @Test(
        "However a host is written, the same rule applies to proxies as to trust",
        arguments: ["in.test", "IN.TEST.", "%69n.test:8443", "ann@in.test", "ann@%49N%2Etest.:8443"]
    )
    func spellings(authority: String) throws {
        var request = try PipelineRequest(url: "https://api.test")
        request.head.authority = authority
        let proxy = Policy.Route.http(host: "p.test", port: 3128)
        let variables = ProxyVariables(["all_proxy": "p.test", "no_proxy": "in.test"])
        for policy in [
            Policy.rules(["*": proxy, "in.test": .direct]), .proxy(proxy, except: "in.test"), .environment(variables),
        ] {
            #expect(try ProxyChoices(policy, .fake())?.choice(for: request) == nil)
        }
        #expect(HostRules<Bool>(["in.test": true]).value(for: request.ruleHost) == true)
    }

    @Test("Q10 No policy lets a proxy see the credential of a loopback request over http")
    func loopback() throws {
        var request = try PipelineRequest(url: "http://127.0.0.1:8080/x")
        try request.setHeader("canary", for: .authorization)
        let proxy = Policy.Route.socks5(host: "p.test", port: 1_080, credential: Self.canary)
        for (policy, remedy) in [
            (Policy.proxy(proxy), "add 127.0.0.1 to the exceptions"),
            (.rules(["*": proxy]), #"add the rule "127.0.0.1": .direct"#),
        ] {
            let error = #expect(throws: PipelineError.self) { try ProxyChoices(policy, .fake())?.choice(for: request) }
            #expect(error?.code == .invalidRequest(.credential))
            #expect(error?.reason.contains(remedy) == true && error?.reason.contains("canary") == false)
        }
        for policy in [Policy.proxy(proxy, except: "127.0.0.0/8"), .rules(["*": proxy, "127.0.0.1": .direct])] {
            #expect(try ProxyChoices(policy, .fake())?.choice(for: request) == nil)
        }
        request.head.scheme = "https"
        #expect(try ProxyChoices(.proxy(proxy), .fake())?.choice(for: request) != nil)
    }

    @Test("A credential that cannot be sent fails the request, and the error does not show it")
    func credential() throws {
        let long = String(repeating: "canary", count: 43)
        let routes: [Policy.Route] = [
            .http(host: "p", port: 1, credential: .init(username: "canary:x", password: "")),
            .https(host: "p", port: 1, credential: .init(username: "a", password: "canary\n")),
            .socks5(host: "p", port: 1, credential: .init(username: "canary", password: "")),
            .socks5(host: "p", port: 1, credential: .init(username: long, password: "a")),
        ]
        for route in routes {
            let error = #expect(throws: PipelineError.self) { try name(.proxy(route), "https://api.test") }
            #expect(error?.code == .invalidRequest(.credential), "\(route)")
            #expect(error?.reason.contains("canary") == false)
        }
        #expect(
            try name(.proxy(.http(host: "p", port: 1, credential: .init(username: "", password: ":"))), "https://a")
                != nil
        )
    }

    @Test("Neither a route nor a credential shows the user name or the password")
    func description() {
        let route = Policy.Route.https(host: "[::1]", port: 443, credential: Self.canary)
        #expect("\(route)" == "https proxy [::1]:443" && "\(Policy.Route.direct)" == "direct")
        var text = "\(route) \(String(reflecting: route)) \(Self.canary) \(String(reflecting: [Self.canary]))"
        dump(route, to: &text)
        dump(Self.canary, to: &text)
        dump(Policy.proxy(route), to: &text)
        dump(Policy.rules(["*": route]), to: &text)
        #expect(!text.contains("canary"))
    }

    @Test("Each fault has a code, and a message that names the proxy")
    func faults() {
        let faults: [(ProxyFault, String)] = [
            (.authentication, "proxy.authentication"), (.status(503), "proxy.refused"), (.malformed, "proxy.refused"),
            (.closed, "proxy.refused"), (.reply(1), "proxy.refused"), (.reply(2), "proxy.refused"),
            (.reply(3), "connect.unreachable"), (.reply(4), "connect.unreachable"), (.reply(5), "connect.refused"),
            (.reply(6), "connect.unreachable"), (.reply(7), "proxy.refused"),
            (.connection(.connect(.refused)), "connect.refused"), (.connection(.dns), "dns"),
            (.connection(.tls(.hostName)), "tls.hostName"), (.connection(.timeout(.connect)), "timeout.connect"),
        ]
        for (fault, code) in faults {
            let error = fault.error(from: "the http proxy p:1")
            #expect(error.code.rawValue == code && error.code.provesNothingSent)
            #expect(error.reason.contains("the http proxy p:1"))
        }
    }
}
