import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("The relay to a proxy", .tags(.concurrent), .realTime, .watched)
struct ProxyRelayTests {
    private typealias Policy = AsyncHTTPClientTransport.ProxyPolicy
    private typealias Action = LoopbackServer.Action

    /// A certificate and its key, both DER.
    private static let certificate =
        "MIIBdDCCARugAwIBAgIUbazmPXLsol+7JVPebb4DwtepcLUwCgYIKoZIzj0EAwIwDzENMAsGA1UEAwwEdGVzdDAgFw0yNjEx"
        + "MjYxODIzNTRaGA8yMTI2MTEwMjE4MjM1NFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAeh"
        + "zIJPGCUecah8FR47hMJkPtOdGEx1xl5iZuDNeiFBB0QeyM48lKlnuAfBzpZWLBdDrsMAKAzWB8qJH3BI1xijUzBRMB0GA1Ud"
        + "DgQWBBSck6RL4crrJnlU27scrkycinTIwzAfBgNVHSMEGDAWgBSck6RL4crrJnlU27scrkycinTIwzAPBgNVHRMBAf8EBTAD"
        + "AQH/MAoGCCqGSM49BAMCA0cAMEQCIEkVrPEljir7S6frUNxIo8YtJKEl8Z+U32raVAppDtTOAiBfw95rmIjxXLsOurZlF+un"
        + "j0eyGHmuBAmRvYQN5KtzPw=="
    private static let key =
        "MHcCAQEEIKqmDve6LF+WO7ucpUPUHRveDGo2XGLvwbVb72w6X0IGoAoGCCqGSM49AwEHoUQDQgAEB6HMgk8YJR5xqHwVHjuE"
        + "wmQ+050YTHXGXmJm4M16IUEHRB7IzjyUqWe4B8HOllYsF0OuwwAoDNYHyokfcEjXGA=="

    private static let ann = Policy.Credential(username: "ann", password: "canary")

    /// How a test's proxy is reached; it responds in place of the server.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case http, socks5, socks5WithCredential

        /// The proxy's part of the handshake if it begins before the first request.
        private var greeting: [LoopbackServer.Action] {
            let reply = Data([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            return switch self {
            case .http: []
            case .socks5: [.receive, .send(Data([5, 0])), .receive, .send(reply)]
            case .socks5WithCredential:
                [.receive, .send(Data([5, 2])), .receive, .send(Data([1, 0])), .receive, .send(reply)]
            }
        }

        func start(_ handler: @escaping LoopbackServer.Handler) throws -> LoopbackServer {
            try LoopbackServer(greeting: greeting) { request in
                request.method == "CONNECT" ? [.send("HTTP/1.1 200 Connected\r\n\r\n")] : handler(request)
            }
        }

        func route(to proxy: LoopbackServer) -> AsyncHTTPClientTransport.ProxyPolicy.Route {
            switch self {
            case .http: .http(host: "localhost", port: proxy.port)
            case .socks5: .socks5(host: "127.0.0.1", port: proxy.port)
            case .socks5WithCredential: .socks5(host: "127.0.0.1", port: proxy.port, credential: ann)
            }
        }

        var testDescription: String { rawValue }
    }

    private static let target = URL(string: "http://api.test:81") ?? URL(filePath: "/")

    private func transport(
        _ route: Policy.Route,
        connectTimeout: TimeAmount = .seconds(60)
    ) -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = connectTimeout
        return AsyncHTTPClientTransport(configuration: configuration, proxies: .proxy(route))
    }

    private func failure(_ transport: AsyncHTTPClientTransport) async throws -> PipelineError? {
        try await Provider<Probe>(transport: transport).failure(Probe(Self.target))
    }

    @Test("Requests go through the tunnel and share it; the end of the transport closes it", arguments: Kind.allCases)
    func tunnel(kind: Kind) async throws {
        let proxy = try kind.start { [.respond(200, body: $0.target)] }
        defer { proxy.stop() }
        var transport: AsyncHTTPClientTransport? = transport(kind.route(to: proxy))
        for path in ["/a", "/b"] {
            let provider = Provider<Probe>(transport: try #require(transport))
            #expect(try await provider.request(Probe(Self.target, path)).mapString() == path)
        }
        #expect(proxy.activity.connectionCount == 1)
        #expect(!proxy.requests.contains { $0.headerLines.contains { $0.contains("Bearer") } })
        transport = nil
        try await proxy.wait { $0.openConnectionCount == 0 }
    }

    @Test("Large bodies pass in both directions", arguments: Kind.allCases)
    func largeBodies(kind: Kind) async throws {
        let proxy = try kind.start { [.respond(200, body: $0.body)] }
        defer { proxy.stop() }
        let body = Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        let transport = transport(kind.route(to: proxy))
        let probe = Probe(Self.target, method: .post, task: .requestData(body))
        #expect(try await Provider<Probe>(transport: transport).request(probe).data == body)
        try await transport.shutdown()
        try await proxy.wait { $0.openConnectionCount == 0 }
    }

    @Test("The end of a connection ends a body without a length, and a reset cuts it", arguments: Kind.allCases)
    func end(kind: Kind) async throws {
        let proxy = try kind.start { request in
            [.send("HTTP/1.1 200 OK\r\n\r\nabc"), request.target == "/end" ? .close : .reset]
        }
        defer { proxy.stop() }
        let provider = Provider<Probe>(transport: transport(kind.route(to: proxy)))
        #expect(try await provider.request(Probe(Self.target, "/end")).mapString() == "abc")
        let code = try await provider.failureCode(Probe(Self.target, "/reset"))
        #expect(code == .connectionLost || code == .truncated)
        try await proxy.wait { $0.openConnectionCount == 0 }
    }

    /// A greeting of the proxy, the route to it, and the code.
    private static let faults: [([Action], @Sendable (Int) -> Policy.Route, String)] = [
        (
            [.receive, .respond(407), .close], { .http(host: "127.0.0.1", port: $0, credential: ann) },
            "proxy.authentication"
        ),
        ([.receive, .respond(403, body: "no")], { .http(host: "127.0.0.1", port: $0) }, "proxy.refused"),
        ([.receive, .send("SSH\r\n\r\n")], { .http(host: "127.0.0.1", port: $0) }, "proxy.refused"),
        ([.receive, .close], { .http(host: "127.0.0.1", port: $0) }, "proxy.refused"),
        ([.receive, .reset], { .http(host: "127.0.0.1", port: $0) }, "proxy.refused"),
        ([.receive, .respond(400), .close], { .https(host: "127.0.0.1", port: $0, credential: ann) }, "tls.handshake"),
        ([.receive, .close], { .https(host: "127.0.0.1", port: $0) }, "tls.handshake"),
        ([.receive, .send(Data([5, 255]))], { .socks5(host: "127.0.0.1", port: $0) }, "proxy.authentication"),
        (
            [.receive, .send(Data([5, 2])), .receive, .send(Data([1, 1])), .close],
            { .socks5(host: "127.0.0.1", port: $0, credential: ann) }, "proxy.authentication"
        ),
        (
            [.receive, .send(Data([5, 0])), .receive, .send(Data([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]))],
            { .socks5(host: "127.0.0.1", port: $0) }, "connect.refused"
        ),
        ([.receive, .send("HTTP/1.1 400 No\r\n\r\n")], { .socks5(host: "127.0.0.1", port: $0) }, "proxy.refused"),
    ]

    @Test("A proxy that opens no tunnel fails the request with a code of its own", arguments: 0..<faults.count)
    func fault(_ index: Int) async throws {
        let (greeting, route, code) = Self.faults[index]
        let proxy = try LoopbackServer(greeting: greeting) { _ in [.close] }
        defer { proxy.stop() }
        let transport = transport(route(proxy.port))
        let error = try await failure(transport)
        #expect(error?.code.rawValue == code)
        #expect(
            error?.reason.contains("proxy 127.0.0.1:\(proxy.port)") == true && error?.reason.contains("canary") == false
        )
        try await proxy.wait { $0.openConnectionCount == 0 }
    }

    @Test("A proxy that cannot be reached fails the request, and the message says that it is the proxy")
    func unreachable() async throws {
        let closed = try LoopbackPort.refusing()
        let port = try #require(closed.url.port)
        let refused = try await failure(transport(.socks5(host: "127.0.0.1", port: port)))
        #expect(refused?.code == .connect(.refused))
        #expect(refused?.reason == "the socks5 proxy 127.0.0.1:\(port) refused the connection")
        let machine = Machine.fake(["all_proxy": "https://ann:canary@127.0.0.1:\(port)"])
        let environment = AsyncHTTPClientTransport(proxies: .environment, machine: machine)
        let unnamed = try await failure(environment)
        #expect(unnamed?.reason == "the proxy in all_proxy refused the connection")
    }

    @Test("A proxy that says nothing fails the request in time, and no connection to it remains")
    func timeout() async throws {
        let proxy = try LoopbackServer { _ in [.stall] }
        defer { proxy.stop() }
        let transport = transport(.http(host: "127.0.0.1", port: proxy.port), connectTimeout: .milliseconds(100))
        #expect(try await failure(transport)?.code == .timeout(.connect))
        try await proxy.wait { $0.openConnectionCount == 0 }
    }

    @Test("A cancelled request closes its connection to the proxy", arguments: Kind.allCases)
    func cancellation(kind: Kind) async throws {
        let proxy = try kind.start { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .stall] }
        defer { proxy.stop() }
        let provider = Provider<Probe>(transport: transport(kind.route(to: proxy)))
        let task = Task { try await provider.request(Probe(Self.target)) }
        try await proxy.wait { $0.requestCount == (kind == .http ? 2 : 1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await proxy.wait { $0.openConnectionCount == 0 }
    }

    @Test("A shutdown closes an open tunnel and one that is being opened")
    func shutdown() async throws {
        let proxy = try LoopbackServer { request in
            request.target == "open.test:80" ? [.send("HTTP/1.1 200 OK\r\n\r\n")] : [.stall]
        }
        defer { proxy.stop() }
        let transport = transport(.http(host: "127.0.0.1", port: proxy.port))
        let provider = Provider<Probe>(transport: transport)
        let urls = try ["http://open.test", "http://other.test"].map { try #require(URL(string: $0)) }
        let tasks = urls.map { url in Task { try await provider.failureCode(Probe(url)) } }
        try await proxy.wait { $0.requestCount == 3 }
        try await transport.shutdown()
        for task in tasks { #expect(try await task.value == .clientClosed) }
        try await proxy.wait { $0.openConnectionCount == 0 }
        #expect(try await failure(transport)?.code == .clientClosed)
    }

    @Test("The relay verifies the certificate of a proxy and does not present the client's to it")
    func secureProxy() throws {
        let certificate = try #require(Data(base64Encoded: Self.certificate))
        let key = try #require(Data(base64Encoded: Self.key))
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.certificateChain = [.certificate(try NIOSSLCertificate(bytes: Array(certificate), format: .der))]
        configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key), format: .der))
        let settings = ProxyRelay.makeTLSConfiguration(configuration)
        #expect(settings.certificateVerification == .fullVerification)
        #expect(settings.certificateChain.isEmpty && settings.privateKey == nil)
    }

    @Test("The relay serves only clients that know its secret, and closes its port with the transport")
    func secret() async throws {
        let proxy = try Kind.http.start { _ in [.respond(200, body: "proxy")] }
        defer { proxy.stop() }
        let route = Kind.http.route(to: proxy)
        let relay = try await ProxyRelay.start(for: ProxyChoice(route: route, name: "the proxy"), .init())
        var configuration = HTTPClient.Configuration()
        let authorizations: [HTTPClient.Authorization?] = [nil, .bearer(tokens: "x"), relay.clientProxy.authorization]
        var bodies: [String?] = []
        for authorization in authorizations {
            configuration.proxy = .server(host: "127.0.0.1", port: relay.clientProxy.port, authorization: authorization)
            configuration.connectionPool.retryConnectionEstablishment = false
            let client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
            let response = try? await client.execute(HTTPClientRequest(url: "http://api.test"), timeout: .seconds(60))
            let body = try await response?.body.collect(upTo: 100)
            bodies.append(body.map { String(buffer: $0) })
            try await client.shutdown()
        }
        #expect(bodies == [nil, nil, "proxy"])
        #expect(proxy.activity.connectionCount == 1)
        let port = relay.clientProxy.port
        await relay.close()
        let gone = transport(.http(host: "127.0.0.1", port: port))
        #expect(try await failure(gone)?.code == .connect(.refused))
        try await proxy.wait { $0.openConnectionCount == 0 }
    }
}
