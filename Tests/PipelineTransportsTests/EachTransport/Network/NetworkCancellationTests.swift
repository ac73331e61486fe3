import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Network transports: cancellation and timeouts", .tags(.concurrent), .realTime, .watched)
struct NetworkCancellationTests {
    @Test("P06: a call that is cancelled before it begins opens no connection", arguments: NetworkTransport.allCases)
    func beforeStart(transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let network = transport.make()
        let provider = Provider<Probe>(
            transport: ScriptedTransport(
                always: .answer { request, context in
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await network.send(request, context: context)
                }
            )
        )
        let target = Probe(server)
        await #expect(throws: CancellationError.self) {
            _ = try await Task { try await provider.request(target) }.value
        }
        #expect(server.activity.connectionCount == 0)
    }

    @Test(
        "P06: cancelling throws CancellationError and closes the connection",
        arguments: NetworkTransport.allCases,
        ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"]
    )
    func underWay(transport: NetworkTransport, beginning: String) async throws {
        let server = try LoopbackServer { request in
            request.target == "/next" ? [.respond(200)] : [.send(beginning), .stall]
        }
        let provider = Provider<Probe>(transport: transport.make())
        let target = Probe(server)
        let call = Task { try await provider.request(target) }
        try await server.wait { $0.requestCount == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        try await server.wait { $0.openConnectionCount == 0 }
        #expect(try await provider.request(Probe(server, "/next")).statusCode == 200)
    }

    @Test(
        "a cancelled task gets no more of a stream, not even bytes that have arrived",
        arguments: NetworkTransport.allCases
    )
    func cancelledReader(transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        let provider = Provider<Probe>(transport: transport.make())
        let response = try await provider.stream(Probe(server))
        let reader = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in response.body {}
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test("reading a streamed body twice fails with bodyConsumed", arguments: NetworkTransport.allCases)
    func readTwice(transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        let response = try await Provider<Probe>(transport: transport.make()).stream(Probe(server))
        for try await _ in response.body {}
        let error = await #expect(throws: PipelineError.self) { for try await _ in response.body {} }
        #expect(error?.code == .bodyConsumed)
    }

    @Test("the attempt timeout does not run while a stream is read", arguments: NetworkTransport.allCases)
    func timeoutOfStream(transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .hold("rest"), .send("two")]
        }
        let clock = ManualClock()
        let provider = Provider<Probe>(transport: transport.make(), configuration: .init(clock: clock))
        let response = try await provider.stream(Probe(server), options: .init { $0.attemptTimeout = .seconds(1) })
        #expect(clock.sleeperCount == 0)
        clock.advance(by: .seconds(2))
        server.release("rest")
        var collected = Data()
        for try await chunk in response.body { collected.append(chunk) }
        #expect(collected == Data("onetwo".utf8))
    }

    @Test("the attempt timeout covers the body of a buffered call", arguments: NetworkTransport.allCases)
    func timeoutWithinBody(transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .stall]
        }
        let clock = ManualClock()
        let provider = Provider<Probe>(transport: transport.make(), configuration: .init(clock: clock))
        var target = Probe(server)
        target.options.attemptTimeout = .seconds(1)
        let call = Task { [target] in try await provider.failureCode(target) }
        try await server.wait { $0.requestCount == 1 }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(try await call.value == .timeout(.attempt))
        try await server.wait { $0.openConnectionCount == 0 }
    }

    @Test(
        "P07: 300 randomly cancelled calls succeed or throw CancellationError and leave no connection; the next works",
        arguments: NetworkTransport.allCases
    )
    func storm(transport: NetworkTransport) async throws {
        let server = try await runCancellationStorm(on: transport.make())
        try await server.wait { $0.openConnectionCount == 0 }
    }
}
