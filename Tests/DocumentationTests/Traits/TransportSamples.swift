import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The samples of the guide Transports.
enum TransportSamples {
    typealias Library = ReadmeProgram.Library

    struct Providers {
        let live: Provider<Library>
        let preview: Provider<Library>
        let test: Provider<Library>
        let script: ScriptedTransport
    }

    static func providers() -> Providers {
        // sample: construct
        let live = Provider<Library>(transport: URLSessionTransport())
        let preview = Provider<Library>(transport: StubTransport())  // responds with the target's sampleData
        let script = ScriptedTransport([.status(503), .status(200, body: #"{"title": "Eden", "author": "Lem"}"#)])
        let test = Provider<Library>(transport: script)  // responds in order; script.sent has the requests
        // end
        return Providers(live: live, preview: preview, test: test, script: script)
    }

    static func mixed(_ network: any Transport) -> Provider<MultiTarget> {
        // sample: mixed
        let transport = StubTransport(wrapping: network) { target in
            target is Library ? .immediate : .never
        }
        let provider = Provider<MultiTarget>(transport: transport)
        // end
        return provider
    }

    static func configured() -> (URLSessionTransport, URLSessionConfiguration) {
        // sample: configure
        let configuration = URLSessionTransport.makeDefaultConfiguration()
        configuration.httpMaximumConnectionsPerHost = 12
        configuration.timeoutIntervalForRequest = 30
        let transport = URLSessionTransport(configuration: configuration)
        // end
        return (transport, configuration)
    }

    #if AsyncHTTPClient
    static func client() -> (Provider<Library>, AsyncHTTPClientTransport, HTTPClient.Configuration) {
        // sample: client
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = .seconds(2)
        let transport = AsyncHTTPClientTransport(
            configuration: configuration,
            connectionsPerHost: 16,
            readTimeout: .seconds(30)
        )
        let provider = Provider<Library>(transport: transport)
        // end
        return (provider, transport, configuration)
    }

    static func proxies(_ password: String) -> [AsyncHTTPClientTransport] {
        // sample: proxies
        let proxy = AsyncHTTPClientTransport.ProxyPolicy.Route.https(
            host: "proxy.example.com",
            port: 3128,
            credential: .init(username: "ann", password: password)
        )
        // Exceptions are written as in NO_PROXY.
        let general = AsyncHTTPClientTransport(proxies: .proxy(proxy, except: "10.0.0.0/8,.internal.example.com"))
        // Of several rules, the most specific one applies.
        let byHost = AsyncHTTPClientTransport(proxies: .rules(["*.internal.example.com": .direct, "*": proxy]))
        // end
        return [general, byHost]
    }
    #endif
}

@Suite("The samples of the guide Transports", .realTime, .watched)
struct TransportSamplesTests {
    private typealias Library = ReadmeProgram.Library

    @Test("Each provider has its transport; the stub responds with sample data and the script in order")
    func construct() async throws {
        let providers = TransportSamples.providers()
        #expect("\(providers.live.explain())".contains("URLSessionTransport"))
        #expect(try await providers.preview.requestDecoded(.book(id: 3)).title == "Solaris")
        let error = await pipelineError { _ = try await providers.test.requestDecoded(.book(id: 3)) }
        #expect(error?.statusCode == 503)
        #expect(try await providers.test.requestDecoded(.book(id: 4)).title == "Eden")
        #expect(providers.script.sent.map(\.path) == ["/v1/books/3", "/v1/books/4"])
    }

    @Test("A stub that wraps a transport responds to some targets and passes the others on")
    func mixed() async throws {
        let network = ScriptedTransport(always: .status(200, body: "live"))
        let provider = TransportSamples.mixed(network)
        #expect(try await provider.requestDecoded(Library.book(id: 3)).title == "Solaris")
        #expect(try await provider.request(URLTarget("https://api.example.com/time")).mapString() == "live")
        #expect(network.sent.map(\.path) == ["/time"])
    }

    @Test("The default configuration stores no cookies and caches nothing")
    func configured() {
        let (transport, configuration) = TransportSamples.configured()
        #expect(transport.decodesContent)
        #expect(configuration.urlCache == nil)
        #expect(configuration.httpCookieStorage == nil)
    }

    #if AsyncHTTPClient
    @Test("A provider has the configured transport, and its calls fail after the shutdown")
    func client() async throws {
        let (provider, transport, configuration) = TransportSamples.client()
        #expect(configuration.timeout.connect == .seconds(2))
        #expect("\(provider.explain())".contains("AsyncHTTPClientTransport"))
        try await transport.shutdown()
        let error = await pipelineError { _ = try await provider.request(.book(id: 3)) }
        #expect(error?.code == .clientClosed)
    }

    @Test("A loopback credential over http is refused with each of the proxies")
    func proxies() async throws {
        let target = URLTarget("http://127.0.0.1:1", headers: ["Authorization": "Bearer canary"])
        for transport in TransportSamples.proxies("canary") {
            let provider = Provider<URLTarget>(transport: transport)
            let error = await pipelineError { _ = try await provider.request(target) }
            #expect(error?.code == .invalidRequest(.credential))
        }
    }
    #endif
}
