#if !canImport(FoundationNetworking)
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("URLSessionTransport: what a session measures", .tags(.concurrent), .realTime, .watched)
struct URLSessionMetricsTests {
    @Test("The facts of the connection are those of the exchange, and the second one reuses it")
    func connection() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = URLSessionTransportTests.makeProvider()
        let connections = [
            try await provider.request(Probe(server)), try await provider.request(Probe(server)),
        ].map { $0.exchanges.last?.connection }
        #expect(connections.map { $0?.protocolVersion } == ["1.1", "1.1"])
        #expect(connections.map { $0?.peerAddress } == ["127.0.0.1", "127.0.0.1"])
        #expect(connections.map { $0?.peerPort } == [server.port, server.port])
        #expect(connections.map { $0?.isReused } == [false, true])
    }
}
#endif
