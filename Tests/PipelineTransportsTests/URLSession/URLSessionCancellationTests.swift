import Foundation
import Pipeline
import PipelineTesting
import Testing

@testable import PipelineTransports

@Suite("URLSessionTransport: cancellation", .timeLimit(.minutes(3)))
struct URLSessionCancellationTests {
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

    @Test("P06: the transport itself sends nothing for a task that is cancelled")
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
        #expect(await eventually { transport.delegate.liveTaskCount == 0 })
        #expect(server.activity.connectionCount == 0)
    }

    @Test("P06: a call that is cancelled while it waits for its turn ends at once, and its task is never made")
    func whileQueued() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let transport = URLSessionTransport()
        let queue = transport.delegate.queue
        let provider = Provider<Probe>(transport: transport)
        let target = Probe(server)
        queue.isSuspended = true
        let call = Task { try await provider.request(target) }
        #expect(await eventually { queue.operationCount == 1 })
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        let liveTaskCount = await withCheckedContinuation { continuation in
            queue.addOperation { continuation.resume(returning: transport.delegate.liveTaskCount) }
            queue.isSuspended = false
        }
        #expect(liveTaskCount == 0)
        #expect(server.activity.connectionCount == 0)
    }

    @Test("P06: cancelling while the body is awaited throws at once and closes the connection")
    func withinBody() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .stall]
        }
        let transport = URLSessionTransport()
        let provider = Provider<Probe>(transport: transport)
        let target = Probe(server)
        let call = Task { try await provider.request(target) }
        await server.wait { $0.requestCount == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        await server.wait { $0.openConnectionCount == 0 }
        #expect(await eventually { transport.delegate.liveTaskCount == 0 })
    }

    @Test(
        "P06, P07: an answer that arrives behind the cancellation of its call harms nobody",
        arguments: [
            "302 Found\r\nLocation: /next", "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"", "200 OK",
        ]
    )
    func behindCancellation(head: String) async throws {
        let server = try LoopbackServer { request in
            guard request.target == "/" else { return [.respond(200)] }
            return [.hold("answer"), .send("HTTP/1.1 \(head)\r\nContent-Length: 2\r\n\r\nhi")]
        }
        let transport = URLSessionTransport()
        let queue = transport.delegate.queue
        let provider = Provider<Probe>(transport: transport)
        let target = Probe(server)
        let call = Task { try await provider.request(target) }
        await server.wait { $0.holdCount == 1 }
        queue.isSuspended = true
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        #expect(await eventually { queue.operationCount == 1 })
        server.release("answer")
        #expect(await eventually { queue.operationCount > 1 })
        queue.isSuspended = false
        #expect(await eventually { transport.delegate.liveTaskCount == 0 })
        #expect(try await provider.request(Probe(server, "/next")).statusCode == 200)
        await server.wait { $0.openConnectionCount <= 1 }
    }

    @Test("a task that is cancelled gets no more of a stream, not even what has arrived")
    func cancelledReader() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        let provider = Provider<Probe>(transport: URLSessionTransport())
        let response = try await provider.stream(Probe(server))
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in response.body {}
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test("a streamed body that is read twice is bodyConsumed")
    func readTwice() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        let response = try await Provider<Probe>(transport: URLSessionTransport()).stream(Probe(server))
        for try await _ in response.body {}
        let error = await #expect(throws: PipelineError.self) { for try await _ in response.body {} }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("the time of an attempt does not run on while a stream is read")
    func timeoutOfStream() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .hold("rest"), .send("two")]
        }
        let clock = ManualClock()
        let provider = Provider<Probe>(transport: URLSessionTransport(), clock: clock)
        let response = try await provider.stream(Probe(server), options: .init { $0.attemptTimeout = .seconds(1) })
        #expect(clock.sleeperCount == 0)
        clock.advance(by: .seconds(2))
        server.release("rest")
        var collected = Data()
        for try await chunk in response.body { collected.append(chunk) }
        #expect(collected == Data("onetwo".utf8))
    }

    @Test("the time of an attempt covers the body of a call that buffers")
    func timeoutWithinBody() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .stall]
        }
        let clock = ManualClock()
        let provider = Provider<Probe>(transport: URLSessionTransport(), clock: clock)
        var target = Probe(server)
        target.options.attemptTimeout = .seconds(1)
        let call = Task { [target] in try await provider.failureCode(target) }
        await server.wait { $0.requestCount == 1 }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(try await call.value == .timeout(.attempt))
        await server.wait { $0.openConnectionCount == 0 }
    }

    @Test(
        "P07: 300 calls cancelled at random moments end in an answer or CancellationError, the next call works, and no connection is left"
    )
    func storm() async throws {
        let server = try LoopbackServer { request in
            switch request.target.utf8.reduce(0, { $0 &+ Int($1) }) % 4 {
            case 0: [.respond(200, body: "hello")]
            case 1: [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .send("two")]
            case 2: [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")]
            default: [.respond(200, body: Data(count: 50_000)), .close]
            }
        }
        do {
            let transport = URLSessionTransport()
            try await runStorm(Provider<Probe>(transport: transport), server)
            #expect(await eventually { transport.delegate.liveTaskCount == 0 })
        }
        await server.wait { $0.openConnectionCount == 0 }
    }

    private func runStorm(_ provider: Provider<Probe>, _ server: LoopbackServer) async throws {
        var random = PipelineRandom.seeded(0x5eed)
        var outcomes = 0
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<300 {
                let target = Probe(server, "/\(index)")
                let isStreaming = index % 3 == 0
                let call = Task {
                    guard isStreaming else {
                        _ = try await provider.request(target)
                        return
                    }
                    for try await _ in try await provider.stream(target).body {}
                }
                let yieldCount = Int.random(in: 0...300, using: &random)
                group.addTask {
                    for _ in 0..<yieldCount { await Task.yield() }
                    call.cancel()
                    do {
                        try await call.value
                    } catch is CancellationError {}
                    return true
                }
            }
            for try await _ in group { outcomes += 1 }
        }
        #expect(outcomes == 300)
        #expect(try await provider.request(Probe(server, "/next")).statusCode == 200)
    }
}
