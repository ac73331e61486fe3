import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Proxies", .besideProxies, .tags(.concurrent), .realTime, .watched)
struct ProxyTests {
    private func provider(_ policy: ProxyPeer.Policy) throws -> Provider<SecureTarget> {
        Provider(transport: try ProxyPeer.makeTransport(policy))
    }

    private func failure(_ policy: ProxyPeer.Policy, _ url: URL) async throws -> PipelineError? {
        do {
            _ = try await provider(policy).request(SecureTarget(baseURL: url, path: "/echo"))
            return nil
        } catch let error as PipelineError {
            return error
        }
    }

    @Test(
        "Requests over TLS pass through the proxy, with HTTP/2 and HTTP/1.1",
        arguments: ProxyPeer.allCases,
        SecureServer.allCases
    )
    func secure(peer: ProxyPeer, server: SecureServer) async throws {
        let provider = try provider(.proxy(peer.route()))
        for _ in 1...2 {
            let response = try await provider.request(SecureTarget(baseURL: server.url, path: "/echo"))
            #expect(response.headers.text("X-Protocol") == server.version)
            let names = try response.map(SecureEcho.self).fields.map { $0[0].lowercased() }
            #expect(!names.contains { $0.hasPrefix("proxy") })
        }
    }

    @Test(
        "Pins are compared with the key of the server and not with that of the proxy",
        arguments: ProxyPeer.allCases,
        SecureServer.allCases
    )
    func pins(peer: ProxyPeer, server: SecureServer) async throws {
        let pin = try #require(TrustPolicy.Pin(TLSServers.pin))
        let (other, third) = (
            try #require(TrustPolicy.Pin(TLSServers.otherPin)), TrustPolicy.Pin(subjectPublicKeyInfo: [1])
        )
        let target = SecureTarget(baseURL: server.url, path: "/echo")
        func provider(_ pins: [TrustPolicy.Pin]) throws -> Provider<SecureTarget> {
            let trust = TrustPolicy(["127.0.0.1": .system.pinned(to: pins)])
            return Provider(transport: try ProxyPeer.makeTransport(.proxy(peer.route()), trust: trust))
        }
        #expect(try await provider([pin, other]).request(target).headers.text("X-Protocol") == server.version)
        let error = try #require(await provider([other, third]).failure(target))
        #expect(error.code == .tls(.pin))
        #expect(error.reason == "no pin for 127.0.0.1 matches: its key has the pin \(pin)")
    }

    @Test("Requests over http pass through the proxy, which resolves the host's name", arguments: ProxyPeer.allCases)
    func plain(peer: ProxyPeer) async throws {
        let server = try LoopbackServer { [.respond(200, body: $0.target)] }
        defer { server.stop() }
        let provider = try provider(.proxy(peer.route()))
        for host in ["127.0.0.1", "localhost"] {
            let url = try #require(URL(string: "http://\(host):\(server.port)"))
            #expect(try await provider.request(SecureTarget(baseURL: url, path: "/x")).mapString() == "/x")
        }
        #expect(!server.requests.contains { $0.headerLines.contains { $0.lowercased().hasPrefix("proxy") } })
    }

    @Test(
        "A streamed body of 1 MiB passes through the proxy",
        arguments: ProxyPeer.allCases,
        SecureServer.allCases
    )
    func upload(peer: ProxyPeer, server: SecureServer) async throws {
        let piece = Data(repeating: 7, count: 64 << 10)
        let body = PipelineBody.stream {
            AsyncStream { continuation in
                for _ in 0..<16 { continuation.yield(piece) }
                continuation.finish()
            }
        }
        var target = SecureTarget(baseURL: server.url, path: "/digest", method: .post)
        target.task = .requestStream(body)
        let count = try await provider(.proxy(peer.route())).request(target).map(SecureCount.self)
        #expect(count.count == 1 << 20)
    }

    @Test("A body of 8 MiB passes through the proxy", arguments: ProxyPeer.allCases)
    func download(peer: ProxyPeer) async throws {
        let target = SecureTarget(baseURL: SecureServer.http1.url, path: "/bytes/\(8 << 20)/proxy-\(peer)")
        #expect(try await provider(.proxy(peer.route())).request(target).data == pattern(8 << 20))
    }

    @Test("A missing or wrong credential fails with proxy.authentication", arguments: ProxyPeer.guarded)
    func credential(peer: ProxyPeer) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let wrong = ProxyPeer.Policy.Credential(username: ProxyPeer.user, password: "canary")
        for credential in [nil, wrong] {
            for url in [server.url, SecureServer.http2.url] {
                let error = try await failure(.proxy(peer.route(credential)), url)
                #expect(error?.code == .proxy(.authentication))
                #expect(error?.reason.contains("localhost:\(peer.port)") == true)
                #expect(error.map { "\($0)".contains("canary") } == false)
            }
        }
        #expect(server.activity.connectionCount == 0)
    }

    @Test("A server that cannot be reached fails with the code that the proxy reports", arguments: ProxyPeer.allCases)
    func unreachableServer(peer: ProxyPeer) async throws {
        let port = try LoopbackPort.refusing()
        let code = try await failure(.proxy(peer.route()), port.url)?.code
        #expect(code == (peer == .dante || peer == .microsocks ? .connect(.refused) : .proxy(.refused)))
    }

    @Test("A proxy that cannot be reached, or has no valid certificate, fails the request in its name")
    func unreachableProxy() async throws {
        let closed = try LoopbackPort.refusing()
        let port = try #require(closed.url.port)
        for route in [
            ProxyPeer.Policy.Route.https(host: "localhost", port: port), .socks5(host: "127.0.0.1", port: port),
        ] {
            let error = try await failure(.proxy(route), SecureServer.http2.url)
            #expect(error?.code == .connect(.refused) && error?.reason.contains("\(port)") == true)
        }
        let untrusting = AsyncHTTPClientTransport(
            configuration: try SecureTransport.makeConfiguration(),
            proxies: .proxy(ProxyPeer.squidTLS.route())
        )
        let untrusted = await #expect(throws: PipelineError.self) {
            try await Provider<SecureTarget>(transport: untrusting).request(
                .init(baseURL: SecureServer.http2.url, path: "/")
            )
        }
        #expect(untrusted?.code == .tls(.certificate))
        #expect(untrusted?.reason.contains("localhost:\(ProxyPeer.squidTLS.port)") == true)
    }

    @Test("Rules and exceptions choose between proxies and a direct connection")
    func rules() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let wrong = ProxyPeer.tinyproxy.route(nil)
        let named = try #require(URL(string: "http://localhost:\(server.port)"))
        let rules = ProxyPeer.Policy.rules(["*": wrong, "localhost": ProxyPeer.dante.route(nil), "127.0.0.1": .direct])
        for url in [named, server.url] { #expect(try await failure(rules, url) == nil) }
        let exceptions = ProxyPeer.Policy.proxy(wrong, except: "127.0.0.0/8")
        #expect(try await failure(exceptions, server.url) == nil)
        #expect(try await failure(exceptions, named)?.code == .proxy(.authentication))
    }

    @Test("The environment names proxies of every kind", arguments: ProxyPeer.allCases)
    func environment(peer: ProxyPeer) async {
        await #expect(processExitsWith: .success) { [url = peer.url as String] in
            for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "no_proxy"] { unsetenv(name) }
            setenv("all_proxy", url, 1)
            setenv("NO_PROXY", "localhost", 1)
            let provider = Provider<SecureTarget>(transport: try ProxyPeer.makeTransport(.environment))
            let server = try LoopbackServer { _ in [.respond(200)] }
            for url in [server.url, SecureServer.http2.url, SecureServer.http1.url] {
                #expect(try await provider.request(SecureTarget(baseURL: url, path: "/echo")).statusCode == 200)
            }
            let closed = try LoopbackPort.refusing()
            setenv("all_proxy", closed.url.absoluteString, 1)
            let other = Provider<SecureTarget>(transport: try ProxyPeer.makeTransport(.environment))
            let error = await #expect(throws: PipelineError.self) {
                try await other.request(SecureTarget(baseURL: SecureServer.http2.url, path: "/echo"))
            }
            #expect(error?.reason == "the proxy in all_proxy refused the connection")
        }
    }
}
