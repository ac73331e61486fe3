import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("URLSessionTransport: cancellation", .tags(.concurrent), .realTime, .watched)
struct URLSessionCancellationTests {
    /// Makes a serial queue that can be suspended and that counts the blocks waiting in it.
    private static func makeQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    @Test("P06: a call that is cancelled before it begins sends nothing")
    func beforeStart() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let transport = URLSessionTransport()
        let provider = Provider<Probe>(
            transport: transport,
            plugins: [
                .intercept { request, _, next in
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await next(request)
                }
            ]
        )
        let target = Probe(server)
        await #expect(throws: CancellationError.self) {
            _ = try await Task { try await provider.request(target) }.value
        }
        #expect(server.activity.connectionCount == 0)
        #expect(transport.delegate.liveTaskCount == 0)
    }

    @Test("P06: the transport itself sends nothing for a cancelled task")
    func cancelledTask() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let transport = URLSessionTransport()
        let scripted = ScriptedTransport(
            always: .answer { request, context in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await transport.send(request, context: context)
            }
        )
        let provider = Provider<Probe>(transport: scripted)
        let target = Probe(server)
        await #expect(throws: CancellationError.self) {
            _ = try await Task { try await provider.request(target) }.value
        }
        await eventually { transport.delegate.liveTaskCount == 0 }
        #expect(server.activity.connectionCount == 0)
    }

    @Test("P06: a call that is cancelled while it is queued ends at once, and its task is never created")
    func whileQueued() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let queue = Self.makeQueue()
        let transport = URLSessionTransport(machine: .real, delegate: URLSessionExchanges(queue: queue))
        let provider = Provider<Probe>(transport: transport)
        let target = Probe(server)
        queue.isSuspended = true
        let call = Task { try await provider.request(target) }
        await eventually { queue.operationCount == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        let liveTaskCount = await withCheckedContinuation { continuation in
            queue.addOperation { continuation.resume(returning: transport.delegate.liveTaskCount) }
            queue.isSuspended = false
        }
        #expect(liveTaskCount == 0)
        #expect(server.activity.connectionCount == 0)
    }

    @Test("P06: cancelling while waiting for the body throws at once and closes the connection")
    func withinBody() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .stall]
        }
        let transport = URLSessionTransport()
        let provider = Provider<Probe>(transport: transport)
        let target = Probe(server)
        let call = Task { try await provider.request(target) }
        try await server.wait { $0.requestCount == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        try await server.wait { $0.openConnectionCount == 0 }
        await eventually { transport.delegate.liveTaskCount == 0 }
    }

    @Test(
        "P06, P07: a response that arrives after its call was cancelled does no harm",
        arguments: [
            "302 Found\r\nLocation: /next", "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"", "200 OK",
        ]
    )
    func behindCancellation(head: String) async throws {
        let server = try LoopbackServer { request in
            guard request.target == "/" else { return [.respond(200)] }
            return [.hold("answer"), .send("HTTP/1.1 \(head)\r\nContent-Length: 2\r\n\r\nhi")]
        }
        let queue = Self.makeQueue()
        let transport = URLSessionTransport(machine: .real, delegate: URLSessionExchanges(queue: queue))
        let provider = Provider<Probe>(transport: transport)
        let target = Probe(server)
        let call = Task { try await provider.request(target) }
        try await server.wait { $0.holdCount == 1 }
        queue.isSuspended = true
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        await eventually { queue.operationCount == 1 }
        server.release("answer")
        await eventually { queue.operationCount > 1 }
        queue.isSuspended = false
        await eventually { transport.delegate.liveTaskCount == 0 }
        #expect(try await provider.request(Probe(server, "/next")).statusCode == 200)
        try await server.wait { $0.openConnectionCount <= 1 }
    }

    @Test("P07: 300 calls cancelled at random moments leave no task and no connection")
    func storm() async throws {
        let server: LoopbackServer
        do {
            let transport = URLSessionTransport()
            server = try await runCancellationStorm(on: transport)
            await eventually { transport.delegate.liveTaskCount == 0 }
        }
        try await server.wait { $0.openConnectionCount == 0 }
    }
}
