import Foundation
import PipelineTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Actions of the server that no real server should take.
@Suite("LoopbackServer, faults", .tags(.concurrent), .realTime, .watched)
struct LoopbackFaultTests {
    @Test("wait delays the following actions for its duration")
    func wait() throws {
        let server = try LoopbackServer { _ in
            [.send("a"), .wait(.milliseconds(50)), .send("b"), .wait(.zero), .send("c"), .close]
        }
        let client = try RawClient(port: server.port)
        let start = ContinuousClock.now
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.receiveToEnd() == .end("abc"))
        #expect(ContinuousClock.now - start >= .milliseconds(50))
    }

    @Test("stopping the server ends a wait at once, and the following actions send nothing")
    func stopWait() async throws {
        let server = try LoopbackServer { _ in [.send("a"), .wait(.seconds(1_000_000_000_000)), .send("b")] }
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.receive(until: "a") == "a")
        server.stop()
        #expect(client.receiveToEnd() == .end(""))
    }

    @Test("a small receive buffer accepts few unread bytes")
    func receiveBuffer() async throws {
        let count = 4_096
        let server = try LoopbackServer(receiveBufferByteCount: count, greeting: [.hold("never")]) { _ in [] }
        let client = try RawClient(port: server.port, sendBufferByteCount: count)
        try await server.wait { $0.holdCount == 1 }
        let taken = client.sendUntilFull(limit: 16 << 20)
        #expect((1..<256 << 10).contains(taken))
    }

    @Test("a greeting can respond to a request that was not read")
    func earlyAnswer() throws {
        let server = try LoopbackServer(greeting: [.receive, .respond(413), .close]) { _ in [.respond(200)] }
        let client = try RawClient(port: server.port)
        client.send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n")
        #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413 "))
        #expect(server.requests.isEmpty)
    }
}
