import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

#if AsyncHTTPClient
import AsyncHTTPClient
#endif

/// A server, a proxy that responds in its place, and a target with a credential.
private struct ProxyBench {
    let server: LoopbackServer
    let proxy: LoopbackServer
    let secret: Probe

    init() throws {
        server = try LoopbackServer { _ in [.respond(200, body: "server")] }
        proxy = try LoopbackServer { request in
            request.method == "CONNECT" ? [.send("HTTP/1.1 200 Connected\r\n\r\n")] : [.respond(200, body: "proxy")]
        }
        var secret = Probe(server)
        secret.headers = ["Authorization": "Bearer canary-7d2e"]
        self.secret = secret
    }

    var plain: Probe { Probe(server) }

    /// Returns where a request arrives: at the server or at the proxy.
    func arrival(_ target: Probe, _ transport: any Transport) async throws -> String {
        String(decoding: try await Provider<Probe>(transport: transport).request(target).data, as: UTF8.self)
    }

    func checkRefusal(_ transport: any Transport, naming variable: String) async throws {
        let (count, connections) = (proxy.requests.count, proxy.activity.connectionCount)
        let error = try await Provider<Probe>(transport: transport).failure(secret)
        #expect(error?.code == .invalidRequest(.credential))
        #expect(error?.reason.contains(variable) == true)
        #expect(error?.reason.contains("\(proxy.port)") == false && error?.reason.contains("canary") == false)
        #expect(proxy.requests.count == count && proxy.activity.connectionCount == connections)
    }
}

@Suite("Proxy variables", .tags(.concurrent), .realTime, .watched)
struct ProxyEnvironmentTests {
    #if canImport(FoundationNetworking)
    @Test("Q10 URLSession on Linux refuses a loopback request with a credential if a proxy variable applies")
    func urlSession() async throws {
        let bench = try ProxyBench()
        for variable in ["http_proxy", "all_proxy", "ALL_PROXY"] {
            // The process itself has other variables, which does not matter: a refused request is never sent.
            let machine = Machine.fake([variable: bench.proxy.url.absoluteString])
            try await bench.checkRefusal(URLSessionTransport(machine: machine), naming: variable)
        }
        #expect(bench.server.requests.isEmpty)
    }

    @Test(
        "Q10 In a process with http_proxy, a loopback credential never reaches the proxy; NO_PROXY lets it through"
    )
    func process() async {
        await #expect(processExitsWith: .success) {
            for name in ["all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] { unsetenv(name) }
            let bench = try ProxyBench()
            setenv("http_proxy", bench.proxy.url.absoluteString, 1)
            let transport = URLSessionTransport()
            #expect(try await bench.arrival(bench.plain, transport) == "proxy")
            try await bench.checkRefusal(transport, naming: "http_proxy")
            #if AsyncHTTPClient
            #expect(try await bench.arrival(bench.plain, AsyncHTTPClientTransport()) == "server")
            #expect(try await bench.arrival(bench.secret, AsyncHTTPClientTransport()) == "server")
            let asked = AsyncHTTPClientTransport(proxies: .environment)
            #expect(try await bench.arrival(bench.plain, asked) == "proxy")
            try await bench.checkRefusal(asked, naming: "http_proxy")
            #endif
            setenv("NO_PROXY", "127.0.0.1,localhost", 1)
            #expect(try await bench.arrival(bench.secret, transport) == "server")
            #expect(!bench.proxy.requests.contains { !$0.values(of: "Authorization").isEmpty })
        }
    }
    #endif

    #if AsyncHTTPClient
    private func transport(_ variables: [String: String]) -> AsyncHTTPClientTransport {
        AsyncHTTPClientTransport(proxies: .environment(ProxyVariables(variables)), machine: .fake())
    }

    @Test("Q10 By default AsyncHTTPClient ignores proxy variables")
    func ignored() async throws {
        let bench = try ProxyBench()
        let machine = Machine.fake(["http_proxy": bench.proxy.url.absoluteString])
        let transport = AsyncHTTPClientTransport(machine: machine)
        #expect(try await bench.arrival(bench.secret, transport) == "server")
        #expect(bench.proxy.activity.connectionCount == 0)
    }

    @Test("Q10 With proxies: .environment, AsyncHTTPClient opens a tunnel through the proxy with its credential")
    func tunnel() async throws {
        let bench = try ProxyBench()
        let transport = transport(["http_proxy": "http://ann:s%C3%A9same@127.0.0.1:\(bench.proxy.port)"])
        #expect(try await bench.arrival(bench.plain, transport) == "proxy")
        #expect(bench.proxy.requests.map(\.method) == ["CONNECT", "GET"])
        #expect(bench.proxy.requests.first?.target == "127.0.0.1:\(bench.server.port)")
        let basic = "Basic " + Data("ann:sésame".utf8).base64EncodedString()
        #expect(bench.proxy.requests.first?.values(of: "Proxy-Authorization") == [basic])
        #expect(bench.server.requests.isEmpty)
        try await transport.shutdown()
    }

    @Test(
        "Q10 With proxies: .environment, a loopback request with a credential is refused unless its host is exempt"
    )
    func environment() async throws {
        let bench = try ProxyBench()
        let url = bench.proxy.url.absoluteString
        try await bench.checkRefusal(transport(["all_proxy": url]), naming: "all_proxy")
        for exceptions in [["NO_PROXY": "127.0.0.1"], ["no_proxy": "127.0.0.0/8"]] {
            let exempt = transport(exceptions.merging(["all_proxy": url]) { old, _ in old })
            #expect(try await bench.arrival(bench.secret, exempt) == "server")
        }
        #expect(try await bench.arrival(bench.secret, transport(["https_proxy": url, "HTTP_PROXY": url])) == "server")
        #expect(bench.proxy.activity.connectionCount == 0)
    }

    @Test(
        "Q10 A proxy of another kind fails its requests, and the error names only the variable",
        arguments: ["ftp://canary", "socks4://canary", "socks4a://ann:canary@p", "canary:x"]
    )
    func unusable(value: String) async throws {
        let bench = try ProxyBench()
        let transport = transport(["http_proxy": value])
        let error = try await Provider<Probe>(transport: transport).failure(bench.plain)
        #expect(error?.code == .invalidRequest(.authority))
        #expect(error?.reason.contains("http_proxy") == true && error?.reason.contains("canary") == false)
        #expect(bench.server.activity.connectionCount == 0)
    }

    @Test("Q10 A transport with proxies from the environment shuts down all its clients")
    func shutdown() async throws {
        let bench = try ProxyBench()
        let transport = transport(["http_proxy": bench.proxy.url.absoluteString, "https_proxy": "http://p.test"])
        #expect(try await bench.arrival(bench.plain, transport) == "proxy")
        try await transport.shutdown()
        try await transport.shutdown()
        #expect(try await Provider<Probe>(transport: transport).failureCode(bench.plain) == .clientClosed)
        try await bench.proxy.wait { $0.openConnectionCount == 0 }
    }

    @Test("Q10 A proxy in the configuration receives every request")
    func configured() async throws {
        let bench = try ProxyBench()
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.proxy = .server(host: "127.0.0.1", port: bench.proxy.port)
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        #expect(try await bench.arrival(bench.secret, transport) == "proxy")
    }

    @Test("A proxy in the configuration that opens no tunnel fails the request with a code of its own")
    func configuredFailure() async throws {
        let proxy = try LoopbackServer { [.respond($0.target.hasPrefix("a.") ? 407 : 503)] }
        defer { proxy.stop() }
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.proxy = .server(host: "127.0.0.1", port: proxy.port)
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(configuration: configuration))
        for (url, code) in [
            ("http://a.test", PipelineError.Code.proxy(.authentication)), ("http://b.test", .proxy(.refused)),
        ] {
            #expect(try await provider.failureCode(Probe(try #require(URL(string: url)))) == code)
        }
    }
    #endif
}
