import Foundation
import PipelineTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("LoopbackPort", .tags(.concurrent), .realTime, .watched)
struct LoopbackPortTests {
    #if canImport(FoundationNetworking)
    @Test("An unresponsive port neither accepts nor refuses a connection", arguments: 0..<3)
    func unresponsive(round: Int) throws {
        let hole = try LoopbackPort.unresponsive()
        #expect(hole.url.host() == "127.0.0.1")
        let port = try #require(hole.url.port)
        #expect(try !RawClient.connects(to: port, within: 300))
    }

    @Test("A released port refuses connections")
    func released() throws {
        // The port may be in use again immediately.
        let isRefused = try (0..<3).contains { _ in
            var hole: LoopbackPort? = try LoopbackPort.unresponsive()
            let port = try #require(hole?.url.port)
            hole = nil
            return (try? RawClient(port: port)) == nil
        }
        #expect(isRefused)
    }
    #endif

    @Test("A refusing port refuses a connection")
    func refusing() throws {
        let refusal = try LoopbackPort.refusing()
        let port = try #require(refusal.url.port)
        #expect(throws: (any Error).self) { _ = try RawClient(port: port) }
        withExtendedLifetime(refusal) {}
    }
}
