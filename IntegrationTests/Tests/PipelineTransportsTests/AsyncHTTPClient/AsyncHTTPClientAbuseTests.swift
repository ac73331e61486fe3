import AsyncHTTPClient
import Foundation
import NIOSSL
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport, servers that waste a connection", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientAbuseTests {
    private static func transport() -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.tlsConfiguration?.certificateVerification = .none
        return AsyncHTTPClientTransport(configuration: configuration)
    }

    private static func target(_ server: HTTP2Server) throws -> Probe {
        var target = Probe(try #require(URL(string: "https://127.0.0.1:\(server.port)")))
        target.options.attemptTimeout = .seconds(30)
        return target
    }

    @Test("an HTTP/2 connection that got a GOAWAY after its last response is closed, and shutdown returns")
    func goAway() async throws {
        let server = try HTTP2Server(.leave)
        defer { server.stop() }
        let transport = Self.transport()
        let provider = Provider<Probe>(transport: transport)
        _ = try await provider.request(Self.target(server))
        await eventually(looks: 10_000) { server.openConnectionCount == 0 }
        _ = try await provider.request(Self.target(server))
        #expect(server.processed.map(\.connection) == [0, 1])
        try await transport.shutdown()
    }

    @Test(
        "an HTTP/2 server that sends too many frames that carry nothing fails the call, and the connection is closed",
        arguments: [HTTP2Server.Reaction.ping, .sendNothing]
    )
    func flood(reaction: HTTP2Server.Reaction) async throws {
        let server = try HTTP2Server(reaction)
        defer { server.stop() }
        let transport = Self.transport()
        let provider = Provider<Probe>(transport: transport)
        let error = try await provider.failure(Self.target(server))
        #expect(error?.code == .malformedResponse)
        #expect(error?.reason.contains("frames that carry nothing") == true)
        await eventually(looks: 10_000) { server.openConnectionCount == 0 }
        let response = try await provider.request(Self.target(server))
        #expect(response.statusCode == 200)
        try await transport.shutdown()
    }

    @Test(
        "a reason phrase or chunk extensions of more than 1 MiB fail with limit.headerBytes, and the connection is closed",
        arguments: [900_000, 2_000_000],
        [true, false]
    )
    func withoutParts(byteCount: Int, isChunk: Bool) async throws {
        let text = String(repeating: "x", count: byteCount)
        let response =
            isChunk
            ? "\(FramingBench.head)Transfer-Encoding: chunked\r\n\r\n5;a=\(text)\r\nhello\r\n0\r\n\r\n"
            : "HTTP/1.1 200 \(text)\r\nContent-Length: 5\r\n\r\nhello"
        let bench = try FramingBench(AsyncHTTPClientTransport(), [.send(response)])
        let isAllowed = byteCount < 1 << 20
        for isStreaming in [false, true] {
            let outcome = try await bench.outcome(isStreaming: isStreaming)
            #expect(outcome == (isAllowed ? .answer(200, "hello") : .failure(.limit(.headerBytes))))
            if !isAllowed { try await bench.server.wait { $0.openConnectionCount == 0 } }
            try await bench.checkNextCall()
        }
    }
}
