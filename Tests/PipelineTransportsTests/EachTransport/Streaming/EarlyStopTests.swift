import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// Bodies whose reader stops early or pauses.
@Suite("Streams that stop early", .tags(.concurrent), .realTime, .watched)
struct EarlyStopTests {
    /// The head of a 1 MB response, its first 1,000 bytes, and nothing more.
    private static func startsAnswer(_ request: LoopbackServer.Request) -> [LoopbackServer.Action] {
        guard request.target == "/long" else { return [.respond(200, body: "next")] }
        return [.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"), .send(Data(count: 1_000)), .stall]
    }

    @Test(
        "I4 A reader that stops after the first piece closes the exchange, and the next call succeeds",
        arguments: NetworkTransport.allCases
    )
    func stopsReading(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer(handler: Self.startsAnswer)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        let response = try await provider.stream(Probe(server, "/long"))
        for try await piece in response.body {
            #expect(!piece.isEmpty)
            break
        }
        // The response is still alive, so the iterator closed the exchange.
        try await server.wait { $0.connectionCount == 1 && $0.openConnectionCount == 0 }
        #expect(response.statusCode == 200)
        #expect(try await provider.request(Probe(server)).mapString() == "next")
    }

    @Test(
        "P05 An unread streamed response closes the exchange when it is dropped",
        arguments: NetworkTransport.allCases
    )
    func dropsResponse(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer(handler: Self.startsAnswer)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        var response: StreamedResponse? = try await provider.stream(Probe(server, "/long"))
        #expect(response?.statusCode == 200)
        #expect(server.activity.openConnectionCount == 1)
        response = nil
        try await server.wait { $0.openConnectionCount == 0 }
        #expect(try await provider.request(Probe(server)).mapString() == "next")
    }

    @Test(
        "A reader that is cancelled while it waits for a piece closes the exchange",
        arguments: NetworkTransport.allCases
    )
    func cancelsReading(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer(handler: Self.startsAnswer)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        let response = try await provider.stream(Probe(server, "/long"))
        let received = Tally()
        let reader = Task {
            for try await piece in response.body { received.add(piece.count) }
        }
        // Everything that was sent has been read, so the reader waits for the next piece.
        await eventually { received.count == 1_000 }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try await server.wait { $0.openConnectionCount == 0 }
    }

    @Test("Two concurrent streams do not block each other", arguments: NetworkTransport.allCases)
    func twoStreams(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { request in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"
            return request.target == "/slow" ? [.send(head), .hold("slow"), .send("two")] : [.send(head + "two")]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        var slow = try await provider.stream(Probe(server, "/slow")).body.makeAsyncIterator()
        #expect(try await slow.next() == Data("one".utf8))
        for _ in 0..<3 {
            var fast = Data()
            for try await piece in try await provider.stream(Probe(server, "/fast")).body { fast += piece }
            #expect(fast == Data("onetwo".utf8))
        }
        server.release("slow")
        #expect(try await slow.next() == Data("two".utf8))
        #expect(try await slow.next() == nil)
    }

    @Test(
        "P06 Cancelling a call while its body is produced ends the body's stream",
        arguments: NetworkTransport.allCases
    )
    func cancelsUpload(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        let asked = Tally()
        let ended = Tally()
        let (pieces, continuation) = AsyncStream<Data>.makeStream()
        continuation.onTermination = { _ in ended.add() }
        continuation.yield(Data(count: 100))
        let body = PipelineBody.stream(
            pieces.map { piece in
                asked.add()
                return piece
            }
        )
        let call = Task {
            try await provider.request(Probe(server, "/", method: .post, task: .requestStream(body)))
        }
        await eventually { asked.count > 0 }
        #expect(ended.count == 0)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await eventually { ended.count == 1 }
        try await server.wait { $0.openConnectionCount == 0 }
        #expect(server.requests.isEmpty)
        continuation.finish()
    }
}
