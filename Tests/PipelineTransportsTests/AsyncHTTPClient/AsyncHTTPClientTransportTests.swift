#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import Pipeline
import PipelineTesting
import PipelineTransports
import Testing

@Suite("AsyncHTTPClientTransport", .timeLimit(.minutes(3)))
struct AsyncHTTPClientTransportTests {
    @Test("after shutdown calls fail with clientClosed, and shutting down again does nothing")
    func shutdown() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        let transport = AsyncHTTPClientTransport()
        let provider = Provider<Probe>(transport: transport)
        #expect(try await provider.request(Probe(server)).statusCode == 200)
        try await transport.shutdown()
        await server.wait { $0.openConnectionCount == 0 }
        #expect(try await provider.failureCode(Probe(server)) == .clientClosed)
        try await transport.shutdown()
    }
}
#endif
