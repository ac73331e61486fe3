import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport: ownership of the client", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientHandleTests {
    @Test("P08: after a shutdown, calls fail with clientClosed, and a second shutdown does nothing")
    func shutdown() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        let transport = AsyncHTTPClientTransport()
        let provider = Provider<Probe>(transport: transport)
        #expect(try await provider.request(Probe(server)).statusCode == 200)
        try await transport.shutdown()
        try await server.wait { $0.openConnectionCount == 0 }
        #expect(try await provider.failureCode(Probe(server)) == .clientClosed)
        try await transport.shutdown()
    }

    @Test(
        "P08: calls in flight when the client is shut down fail with clientClosed",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"]
    )
    func shutdownUnderWay(beginning: String) async throws {
        let server = try LoopbackServer { _ in [.send(beginning), .stall] }
        let transport = AsyncHTTPClientTransport()
        let provider = Provider<Probe>(transport: transport)
        let target = Probe(server)
        let calls = (0..<20).map { _ in Task { try await provider.failureCode(target) } }
        try await server.wait { $0.requestCount == 8 }
        try await transport.shutdown()
        for call in calls { #expect(try await call.value == .clientClosed) }
        try await server.wait { $0.openConnectionCount == 0 }
    }

    @Test("P08: if a shared client shuts down, a call in flight fails with connectionLost, the next with clientClosed")
    func sharedShutdownUnderWay() async throws {
        let server = try LoopbackServer { _ in [.stall] }
        let client = HTTPClient(configuration: AsyncHTTPClientTransport.makeDefaultConfiguration())
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(client: client))
        let target = Probe(server)
        let call = Task { try await provider.failureCode(target) }
        try await server.wait { $0.requestCount == 1 }
        try await client.shutdown()
        #expect(try await call.value == .connectionLost)
        #expect(try await provider.failureCode(target) == .clientClosed)
    }

    @Test("P08: a transport's own client shuts down when the transport is released")
    func dropped() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        do {
            let provider = Provider<Probe>(transport: AsyncHTTPClientTransport())
            #expect(try await provider.request(Probe(server)).statusCode == 200)
            #expect(server.activity.openConnectionCount == 1)
        }
        try await server.wait { $0.openConnectionCount == 0 }
    }

    @Test("a body can be read to its end after provider and transport are released; then the client shuts down")
    func bodyOutlivesProvider() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .hold("rest"), .send("two")]
        }
        do {
            var provider: Provider<Probe>? = Provider(transport: AsyncHTTPClientTransport())
            let response = try #require(try await provider?.stream(Probe(server)))
            provider = nil
            var collected = Data()
            for try await chunk in response.body {
                collected.append(chunk)
                server.release("rest")
            }
            #expect(collected == Data("onetwo".utf8))
        }
        try await server.wait { $0.openConnectionCount == 0 }
    }

    @Test("two transports that share a client share its connections, and neither shuts it down")
    func shared() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        let client = HTTPClient(configuration: AsyncHTTPClientTransport.makeDefaultConfiguration())
        do {
            let first = AsyncHTTPClientTransport(client: client)
            let second = AsyncHTTPClientTransport(client: client)
            for transport in [first, second, first] {
                let response = try await Provider<Probe>(transport: transport).request(Probe(server))
                #expect(response.data == Data("hello".utf8))
            }
            try await first.shutdown()
            #expect(try await Provider<Probe>(transport: first).request(Probe(server)).statusCode == 200)
        }
        #expect(try await client.execute(HTTPClientRequest(url: "\(server.url)"), timeout: .seconds(20)).status == .ok)
        #expect(server.activity.connectionCount == 1)
        try await client.shutdown()
    }

    @Test("a call fails if a shared client has followed a redirect")
    func sharedClientThatFollows() async throws {
        let server = try LoopbackServer { request in
            request.target == "/" ? [.respond(302, headers: [("Location", "/there")])] : [.respond(200)]
        }
        let client = HTTPClient()
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(client: client))
        let error = try #require(await provider.failure(Probe(server)))
        #expect(error.code == .transport)
        #expect(error.reason.contains("redirects"))
        #expect(try await provider.request(Probe(server, "/there")).statusCode == 200)
        try await client.shutdown()
    }

    @Test("HTTPClient.shared stops the program, because it follows redirects and decompresses")
    func sharedOfTheProcess() async {
        await #expect(processExitsWith: .failure) { _ = AsyncHTTPClientTransport(client: .shared) }
    }

    @Test("a headTimeout of zero stops the program")
    func nonsense() async {
        await #expect(processExitsWith: .failure) { _ = AsyncHTTPClientTransport(headTimeout: .zero) }
    }
}
