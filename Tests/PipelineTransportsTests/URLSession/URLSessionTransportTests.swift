import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("URLSessionTransport", .tags(.concurrent), .realTime, .watched)
struct URLSessionTransportTests {
    static func makeProvider(
        _ transport: URLSessionTransport = URLSessionTransport(),
        _ plugins: any PluginType...
    ) -> Provider<Probe> {
        Provider(transport: transport, plugins: plugins, configuration: .init(redirects: .never))
    }

    @Test("a stream that is larger than the limit is not sent")
    func largeStream() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = Provider<Probe>(
            transport: URLSessionTransport(spooledByteCount: 100),
            plugins: [
                .prepare { request, _ in
                    request.body = .stream { () -> AsyncStream<Data> in
                        AsyncStream { continuation in
                            for _ in 0..<3 { continuation.yield(Data(count: 50)) }
                            continuation.finish()
                        }
                    }
                }
            ]
        )
        #expect(try await provider.failureCode(Probe(server, method: .post)) == .limit(.bodyBytes))
        #expect(server.activity.connectionCount == 0)
    }

    @Test("interim responses are ignored")
    func interimResponses() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 103 Early\r\nX-Early: 1\r\n\r\nHTTP/1.1 100 Go\r\n\r\n"), .respond(200, body: "late")]
        }
        let response = try await Self.makeProvider().request(Probe(server))
        #expect(response.statusCode == 200)
        #expect(response.data == Data("late".utf8))
    }

    @Test("H12: an unrequested protocol switch fails with malformedResponse")
    func switchingProtocols() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), .close]
        }
        #expect(try await Self.makeProvider().failureCode(Probe(server)) == .malformedResponse)
    }

    @Test("a redirect without a Location or a body is returned as the response")
    func redirectWithoutLocation() async throws {
        let server = try LoopbackServer { _ in [.respond(308)] }
        #expect(try await Self.makeProvider().request(Probe(server)).statusCode == 308)
    }

    #if canImport(FoundationNetworking)
    @Test("on Linux, the body of a redirect without a Location is lost, and the call fails with truncated")
    func bodyOfRedirectWithoutLocation() async throws {
        let server = try LoopbackServer { _ in [.respond(302, body: "lost")] }
        #expect(try await Self.makeProvider().failureCode(Probe(server)) == .truncated)
    }
    #endif

    #if os(macOS)
    @Test("A configuration for the background stops the program")
    func background() async {
        await #expect(processExitsWith: .failure) {
            _ = URLSessionTransport(configuration: .background(withIdentifier: "test"))
        }
    }
    #endif

    @Test("the core follows a redirect that the transport returned")
    func followedByTheCore() async throws {
        let server = try LoopbackServer { request in
            request.target == "/"
                ? [.respond(302, headers: [("Location", "/next")], body: "old")] : [.respond(200, body: "new")]
        }
        let provider = Provider<Probe>(transport: URLSessionTransport())
        let response = try await provider.request(Probe(server))
        #expect(response.data == Data("new".utf8))
        #expect(response.exchanges.map(\.statusCode) == [302, 200])
    }

    @Test("a stream whose reader falls too far behind fails with limit.unreadBytes")
    func unreadBytes() async throws {
        let server = try LoopbackServer { _ in [.send("HTTP/1.1 200 OK\r\n\r\n"), .send(Data(count: 64 << 20)), .close]
        }
        let provider = Self.makeProvider(URLSessionTransport(unreadByteCount: 100_000))
        let response = try await provider.stream(Probe(server))
        try await server.wait { $0.openConnectionCount == 0 }
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in response.body {}
        }
        #expect(error?.code == .limit(.unreadBytes))
    }
}
