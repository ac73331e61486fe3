import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("Proxies of environment variables", .watched)
struct ProxyAddressTests {
    private typealias Route = AsyncHTTPClientTransport.ProxyPolicy.Route

    /// A value, and the route that it names.
    static let addresses: [(String, String)] = [
        ("proxy.test", "http proxy proxy.test:1080"), ("http://proxy.test:3128/", "http proxy proxy.test:3128"),
        ("SOCKS5H://10.0.0.1", "socks5 proxy 10.0.0.1:1080"), ("https://p:", "https proxy p:443"),
        ("http://[::1]:8080", "http proxy [::1]:8080"), ("[::1]", "http proxy [::1]:1080"),
        ("p:1?q#f", "http proxy p:1"),
    ]

    @Test(
        "A proxy address has a host and an optional scheme, port and credential",
        arguments: addresses
    )
    func address(text: String, description: String) throws {
        let route = try #require(Route(text))
        #expect(route.description == description)
        #expect(route.credential == nil)
    }

    @Test("The user name and the password of a proxy are decoded")
    func credential() {
        #expect(Route("ann:a%40b:c@p")?.credential == .init(username: "ann", password: "a@b:c"))
        #expect(Route("http://ann@p:1")?.credential == .init(username: "ann", password: ""))
        #expect(Route("http://a@b:c@p:1")?.description == "http proxy p:1")
    }

    @Test(
        "A proxy address without a host or with an invalid port or scheme is rejected",
        arguments: ["", "http://", ":80", "p:x", "p:0", "p:65536", "[::1", "[::1]x", "ann@", "ftp://p"]
    )
    func noAddress(text: String) {
        #expect(Route(text) == nil)
    }
}
