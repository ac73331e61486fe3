import Foundation
import TestSupport
import Testing

@testable import PipelineTesting

@Suite("LoopbackServer, holds and waits", .tags(.concurrent), .realTime, .watched)
struct LoopbackWaitTests {
    @Test("hold waits for its own name only")
    func hold() async throws {
        let server = try LoopbackServer { _ in [.hold("b"), .send("b"), .close] }
        let client = try RawClient(port: server.port)
        server.release("a")
        client.send("GET / HTTP/1.1\r\n\r\n")
        try await server.wait { $0.holdCount == 1 }
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
        try await server.wait { $0.holdCount == 1 }
        for index in 0..<10 {
            let client = try RawClient(port: server.port)
            client.send("GET /\(index) HTTP/1.1\r\n\r\n")
            server.release("/\(index)")
            server.release("/\(index) again")
            #expect(client.receiveToEnd() == .end(""))
        }
        try await server.wait { $0.openConnectionCount == 1 }
        #expect(server.activity.holdCount == 1 + 10 * 2)
    }

    @Test("a waiting task continues when the server stops")
    func waitEnds() async throws {
        let server = try LoopbackServer(handler: LoopbackServerTests.echo)
        let waiter = Task { try await server.wait { $0.requestCount == 1_000 } }
        server.stop()
        try await waiter.value
        #expect(server.requests.isEmpty)
    }

    @Test(
        "Waiting throws if the task is cancelled before or during it, and other tasks continue to wait"
    )
    func cancelledWait() async throws {
        let server = try LoopbackServer { _ in [.respond(200), .close] }
        async let other: Void = server.wait { $0.requestCount == 1 }
        for yieldCount in [0, 1, 100] {
            let waiter = Task { try await server.wait { $0.requestCount == 2 } }
            for _ in 0..<yieldCount { await Task.yield() }
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
        }
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        try await other
        #expect(server.activity.requestCount == 1)
    }

    @Test("A hold that is not released ends after its time, and a released one does not hold")
    func vainHold() {
        let released = WaitableValue<Set<String>>([])
        #expect(!released.block(within: .milliseconds(1)) { $0.contains("never") })
        released.update { $0 = ["known"] }
        #expect(released.block(within: .milliseconds(1)) { $0.contains("known") })
    }

    @Test("Waiting in vain fails with a sentence, and the server still works")
    func vainWait() async throws {
        let server = try LoopbackServer { _ in [.respond(200), .close] }
        let client = try RawClient(port: server.port)
        try await server.wait { $0.connectionCount == 1 }
        let error = await #expect(throws: WaitTimeout.self) {
            try await WaitTimeout.$pauseCount.withValue(1) { try await server.wait { $0.requestCount == 1 } }
        }
        #expect(error?.description.contains("in vain") == true)
        #expect(error?.description.contains("connectionCount: 1") == true)
        client.send("GET / HTTP/1.1\r\n\r\n")
        try await server.wait { $0.requestCount == 1 && $0.openConnectionCount == 0 }
    }
}
