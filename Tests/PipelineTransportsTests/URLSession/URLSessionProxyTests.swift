#if os(macOS)
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// What URLSessionTransport expects of proxies on Apple platforms.
@Suite("URLSessionTransport: proxies", .tags(.concurrent), .realTime, .watched)
struct URLSessionProxyTests {
    @Test("A request is sent to the proxy of the configuration; a 407 without credentials is the response")
    func proxy() async throws {
        let proxy = try LoopbackServer { request in
            [.respond(407, headers: [("Proxy-Authenticate", #"Basic realm="p""#)], body: request.target)]
        }
        let configuration = URLSessionTransport.makeDefaultConfiguration()
        configuration.connectionProxyDictionary = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": proxy.port,
        ]
        let provider = URLSessionTransportTests.makeProvider(URLSessionTransport(configuration: configuration))
        let response = try await provider.request(Probe(try #require(URL(string: "http://192.0.2.1"))))
        #expect(response.statusCode == 407)
        #expect(String(decoding: response.data, as: UTF8.self) == "http://192.0.2.1/")
    }
}
#endif
