import Foundation
import TestSupport
import Testing

@testable import gateway

@Suite(.watched) struct GatewayOptionsTests {
    private let urls = [
        "CATALOG_URL": "http://a.test", "PRICES_URL": "https://b.test", "REVIEWS_URL": "http://c.test:81",
        "PORT": "8080",
    ]

    @Test("The environment sets the upstreams and the port")
    func environment() throws {
        let options = try GatewayOptions([], urls)
        #expect(options.upstreams?.prices == URL(string: "https://b.test"))
        #expect(options.port == 8_080 && options.host == "127.0.0.1")
        #expect(try GatewayOptions(["--demo"], urls).upstreams == nil)
    }

    @Test(
        "A mistake is an error that names the option",
        arguments: [
            ("--fast", "PORT", "1"), ("--load", "PORT", "1"), ("PORT", "PORT", "65536"),
            ("PRICES_URL", "PRICES_URL", "ftp://b.test"),
        ]
    )
    func mistakes(name: String, variable: String, value: String) throws {
        var environment = urls
        environment[variable] = value
        let arguments = name.hasPrefix("--") ? [name, "5"] : []
        let mistake = #expect(throws: GatewayOptions.Mistake.self) { try GatewayOptions(arguments, environment) }
        #expect(mistake?.description.contains(name) == true)
    }
}
