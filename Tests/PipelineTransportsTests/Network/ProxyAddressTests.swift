import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("ProxyAddress", .watched)
struct ProxyAddressTests {
    /// A value, and its scheme, host and port.
    static let addresses: [(String, String, String, Int)] = [
        ("proxy.test", "http", "proxy.test", 1_080), ("http://proxy.test:3128/", "http", "proxy.test", 3_128),
        ("SOCKS5H://10.0.0.1", "socks5h", "10.0.0.1", 1_080), ("https://p:", "https", "p", 443),
        ("http://[::1]:8080", "http", "::1", 8_080), ("[::1]", "http", "::1", 1_080), ("p:1?q#f", "http", "p", 1),
    ]

    @Test(
        "A proxy address has a host and an optional scheme, port and credential",
        arguments: 0..<addresses.count
    )
    func address(_ index: Int) {
        let (text, scheme, host, port) = Self.addresses[index]
        let address = ProxyAddress(text)
        #expect(address?.scheme == scheme && address?.host == host && address?.port == port, "\(text)")
        #expect(address?.credential == nil)
    }

    @Test("The user name and the password of a proxy are decoded")
    func credential() {
        #expect(ProxyAddress("ann:a%40b:c@p")?.credential == .init(user: "ann", password: "a@b:c"))
        #expect(ProxyAddress("http://ann@p:1")?.credential == .init(user: "ann", password: ""))
        #expect(ProxyAddress("http://a@b:c@p:1")?.host == "p")
    }

    @Test(
        "A proxy address without a host or with an invalid port is rejected",
        arguments: ["", "http://", ":80", "p:x", "p:0", "p:65536", "[::1", "[::1]x", "ann@"]
    )
    func noAddress(text: String) {
        #expect(ProxyAddress(text) == nil)
    }
}
