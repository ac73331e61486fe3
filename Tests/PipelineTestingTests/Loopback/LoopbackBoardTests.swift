import Foundation
import PipelineTesting
import TestSupport
import Testing

@Suite("LoopbackServer, holds and waits", .tags(.concurrent), .realTime, .watched)
struct LoopbackBoardTests {
    @Test("hold waits for its own name only")
    func hold() async throws {
        let server = try LoopbackServer { _ in [.hold("b"), .send("b"), .close] }
        let client = try RawClient(port: server.port)
        server.release("a")
        client.send("GET / HTTP/1.1\r\n\r\n")
        await server.wait { $0.holdCount == 1 }
        #expect(server.activity.openConnectionCount == 1)
        server.release("b")
        #expect(client.receiveToEnd() == .end("b"))
    }

    @Test("releasing one name leaves the others held")
    func releaseOfOne() async throws {
        let server = try LoopbackServer { request in
            [.hold(request.target), .hold("\(request.target) again"), .close]
        }
        let held = try RawClient(port: server.port)
        held.send("GET /held HTTP/1.1\r\n\r\n")
        await server.wait { $0.holdCount == 1 }
        for index in 0..<10 {
            let client = try RawClient(port: server.port)
            client.send("GET /\(index) HTTP/1.1\r\n\r\n")
            server.release("/\(index)")
            server.release("/\(index) again")
            #expect(client.receiveToEnd() == .end(""))
        }
        await server.wait { $0.openConnectionCount == 1 }
        #expect(server.activity.holdCount == 1 + 10 * 2)
    }

    @Test("a waiting task continues when the server stops")
    func waitEnds() async throws {
        let server = try LoopbackServer(handler: LoopbackServerTests.echo)
        let waiter = Task { await server.wait { $0.requestCount == 1_000 } }
        server.stop()
        await waiter.value
        #expect(server.requests.isEmpty)
    }

    @Test(
        "Waiting ends if the task is cancelled before or during it, and other tasks continue to wait"
    )
    func cancelledWait() async throws {
        let server = try LoopbackServer { _ in [.respond(200), .close] }
        async let other: Void = server.wait { $0.requestCount == 1 }
        for yieldCount in [0, 1, 100] {
            let waiter = Task { await server.wait { $0.requestCount == 2 } }
            for _ in 0..<yieldCount { await Task.yield() }
            waiter.cancel()
            await waiter.value
        }
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        await other
        #expect(server.activity.requestCount == 1)
    }
}
