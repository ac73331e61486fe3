import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientTransportTests {
    @Test("redirects and decompression in the configuration are ignored")
    func forcedSettings() async throws {
        let server = try LoopbackServer { _ in
            [.respond(302, headers: [("Location", "/there"), ("Content-Encoding", "gzip")], body: "not gzip")]
        }
        let transport = AsyncHTTPClientTransport(configuration: .singletonConfiguration)
        #expect(!transport.decodesContent)
        let response = try await Provider<Probe>(transport: transport, configuration: .init(redirects: .never)).request(
            Probe(server)
        )
        #expect(response.statusCode == 302)
        #expect(response.data == Data("not gzip".utf8))
        #expect(response.headers[.contentEncoding] == "gzip")
        #expect(server.requests.count == 1)
    }

    @Test("RFC 6265 §5.4: Cookie fields are sent as one")
    func cookies() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let cookies = PluginStack.prepare { request, _ in
            for text in ["a=1", "b=2"] { request.headers.append(HTTPField(name: .cookie, value: text)) }
        }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(), plugins: [cookies])
        _ = try await provider.request(Probe(server))
        #expect(server.requests.first?.values(of: "cookie") == ["a=1; b=2"])
    }

    @Test("an exchange tries to connect only once, whatever the method")
    func oneAttempt() async throws {
        let refusal = try LoopbackPort.refusing()
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = .minutes(3)
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(configuration: configuration))
        let start = ContinuousClock.now
        #expect(try await provider.failureCode(Probe(refusal.url, method: .post)) == .connect(.refused))
        // If AsyncHTTPClient retried, it would take all of `timeout.connect`.
        #expect(ContinuousClock.now - start < .seconds(120))
    }

    @Test("headTimeout ends an exchange whose header fields do not arrive, and no other")
    func headTimeout() async throws {
        let server = try LoopbackServer { request in
            request.target == "/stall" ? [.send("HTTP/1.1 200 OK\r\nX"), .stall] : [.respond(200)]
        }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(headTimeout: .milliseconds(200)))
        #expect(try await provider.failureCode(Probe(server, "/stall")) == .timeout(.head))
        try await server.wait { $0.openConnectionCount == 0 }
        let patient = Provider<Probe>(transport: AsyncHTTPClientTransport(headTimeout: .seconds(50)))
        #expect(try await patient.request(Probe(server)).statusCode == 200)
    }

    @Test("a body over the limit fails, whether announced or not, and its connection is closed")
    func limit() async throws {
        let head = "HTTP/1.1 200 OK\r\n"
        let server = try LoopbackServer { request in
            request.target == "/announced"
                ? [.send(head + "Content-Length: 1001\r\n\r\n"), .stall]
                : [
                    .send(head + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + String(repeating: "a", count: 1_001)),
                    .stall,
                ]
        }
        let limits = ProviderConfiguration.Limits(bufferedBodyByteCount: 1_000)
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(), configuration: .init(limits: limits))
        for path in ["/announced", "/chunked"] {
            #expect(try await provider.failureCode(Probe(server, path)) == .limit(.bodyBytes))
            try await server.wait { $0.openConnectionCount == 0 }
        }
    }
}
