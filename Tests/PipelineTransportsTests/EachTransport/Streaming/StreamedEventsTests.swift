import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

@Suite("Streamed values over the network", .tags(.concurrent), .realTime, .watched)
struct StreamedEventsTests {
    private typealias Action = LoopbackServer.Action

    /// The beginning of a chunked response.
    private static func head(_ type: String = "text/event-stream") -> Action {
        .send("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nTransfer-Encoding: chunked\r\n\r\n")
    }

    private static func chunk(_ text: String) -> Action {
        .send(String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n")
    }

    private static let end = Action.send("0\r\n\r\n")

    @Test("Each event is delivered while the server holds the rest back", arguments: NetworkTransport.allCases)
    func promptness(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in
            [
                Self.head(), Self.chunk("data: 1\r\n\r"), .hold("second"), Self.chunk("\ndata:"), Self.chunk(" 2\n\n"),
                .hold("end"), Self.end,
            ]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        var events = try await provider.stream(Probe(server)).serverSentEvents().makeAsyncIterator()
        #expect(try await events.next()?.data == "1")
        server.release("second")
        #expect(try await events.next()?.data == "2")
        server.release("end")
        #expect(try await events.next() == nil)
    }

    @Test("Each JSON line is delivered while the server holds the rest back", arguments: NetworkTransport.allCases)
    func jsonLines(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in
            [
                Self.head("application/x-ndjson"), Self.chunk("[1]\n[2"), .hold("second"), Self.chunk("]\r\n[3]"),
                Self.end,
            ]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        var values = try await provider.stream(Probe(server)).jsonLines(as: [Int].self).makeAsyncIterator()
        #expect(try await values.next() == [1])
        server.release("second")
        #expect(try await values.next() == [2])
        #expect(try await values.next() == [3])
        #expect(try await values.next() == nil)
    }

    @Test("Leaving the loop closes the connection", arguments: NetworkTransport.allCases)
    func leaving(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in [Self.head(), Self.chunk("data: 1\n\n"), .stall] }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        for try await event in provider.serverSentEvents(Probe(server)) {
            #expect(event.data == "1")
            break
        }
        try await server.wait { $0.openConnectionCount == 0 }
        for try await _ in try await provider.stream(Probe(server)).lines() { break }
        try await server.wait { $0.requestCount == 2 && $0.openConnectionCount == 0 }
    }

    @Test("Cancelling the reader closes the connection", arguments: NetworkTransport.allCases)
    func cancellation(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in [Self.head(), Self.chunk("data: 1\n\n"), .stall] }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        let (arrivals, hasArrived) = AsyncStream<Void>.makeStream()
        let reading = Task {
            for try await _ in provider.serverSentEvents(Probe(server)) { hasArrived.yield() }
        }
        for await _ in arrivals { break }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        try await server.wait { $0.openConnectionCount == 0 }
    }

    /// How a stream ends prematurely.
    enum Break: CaseIterable {
        case end, close, reset

        fileprivate var actions: [LoopbackServer.Action] {
            switch self {
            case .end: [StreamedEventsTests.end]
            case .close: [.close]
            case .reset: [.reset]
            }
        }
    }

    @Test(
        "C07, H02: A stream that ends, is cut or is reset resumes after the ID of the last complete event",
        arguments: NetworkTransport.allCases,
        Break.allCases
    )
    func reconnecting(_ transport: NetworkTransport, _ kind: Break) async throws {
        let server = try LoopbackServer { request in
            switch request.values(of: "Last-Event-ID") {
            case []:
                [Self.head(), Self.chunk("retry: 0\n\nid: 1\ndata: 1\n\nid: 2\nda"), .hold("break")] + kind.actions
            case ["1"]: [Self.head(), Self.chunk("id: 2\ndata: 2\n\n"), Self.end]
            default: [.respond(204)]
            }
        }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        let policy = ServerSentEvent.ReconnectionPolicy(minimumReconnectionTime: .zero)
        var events = provider.serverSentEvents(Probe(server), reconnection: policy).makeAsyncIterator()
        #expect(try await events.next()?.data == "1")
        server.release("break")
        #expect(try await events.next()?.data == "2")
        #expect(try await events.next() == nil)
        #expect(server.requests.map { $0.values(of: "Last-Event-ID") } == [[], ["1"], ["2"]])
        for request in server.requests {
            #expect(request.values(of: "Accept") == ["text/event-stream"])
            #expect(request.values(of: "Cache-Control") == ["no-cache"])
        }
    }

    // MARK: More subscriptions than connections

    @Test("S02 URLSession opens 6 of 10 subscriptions, and each that ends lets another one open")
    func fewConnections() async throws {
        let requested = Atomic(0)
        let ended = Atomic(0)
        let openAtMost = Atomic(0)
        let server = try LoopbackServer { _ in
            let count = requested.add(1, ordering: .relaxed).newValue - ended.load(ordering: .acquiring)
            openAtMost.max(count, ordering: .relaxed)
            return [Self.head(), Self.chunk("data: 1\n\n"), .stall]
        }
        defer { server.stop() }
        let (opened, open) = AsyncStream.makeStream(of: Int.self)
        let (sent, send) = AsyncStream.makeStream(of: Void.self)
        let provider = Provider<Probe>(
            transport: URLSessionTransport(),
            plugins: [.willSend { _, _ in send.yield() }],
            configuration: .init(clock: ManualClock())
        )
        let readers = (0..<10).map { number in
            Task { for try await _ in provider.serverSentEvents(Probe(server)) { open.yield(number) } }
        }
        defer { for reader in readers { reader.cancel() } }
        var (requests, openings) = (sent.makeAsyncIterator(), opened.makeAsyncIterator())
        for _ in readers { _ = await requests.next() }
        var order: [Int] = []
        while order.count < 6, let number = await openings.next() { order.append(number) }
        for index in 0..<4 {
            ended.add(1, ordering: .releasing)
            readers[order[index]].cancel()
            if let number = await openings.next() { order.append(number) }
        }
        #expect(order.sorted() == Array(0..<10))
        #expect(openAtMost.load(ordering: .relaxed) == 6)
        #expect(server.requests.count == 10)
    }

    #if AsyncHTTPClient
    /// Numbered calls that wait for a connection.
    private struct Subscribers {
        let readers: [Task<Void, any Error>]
        /// The next notice of any subscription: its number, and the code of the failure after which it waits.
        var notices: AsyncStream<(Int, PipelineError.Code?)>.AsyncIterator

        init(_ provider: Provider<Probe>, _ target: Probe, _ count: Int) {
            let (notices, note) = AsyncStream.makeStream(of: (Int, PipelineError.Code?).self)
            self.notices = notices.makeAsyncIterator()
            readers = (0..<count).map { number in
                Task {
                    for try await notice in provider.serverSentEvents(target).notices {
                        if notice.response != nil { note.yield((number, nil)) }
                        if let error = notice.reconnection?.error { note.yield((number, error.code)) }
                    }
                }
            }
        }
    }

    private static func transport(_ time: Duration) -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = TimeAmount(time)
        return AsyncHTTPClientTransport(configuration: configuration, connectionsPerHost: 8, readTimeout: nil)
    }

    @Test("S02 AsyncHTTPClient opens 8 of 10 subscriptions; 2 report timeout.pool until another one ends")
    func busyConnections() async throws {
        let ids: (open: Set<Int>, waiting: Set<Int>, late: Int?)? = await inSomeTime { time in
            let server = try LoopbackServer { _ in [Self.head(), Self.chunk("data: 1\n\n"), .stall] }
            defer { server.stop() }
            let clock = ManualClock()
            let provider = Provider<Probe>(transport: Self.transport(time), configuration: .init(clock: clock))
            var subscribers = Subscribers(provider, Probe(server), 10)
            defer { for reader in subscribers.readers { reader.cancel() } }
            var (open, waiting): (Set<Int>, Set<Int>) = ([], [])
            while open.count + waiting.count < 10, let (number, failure) = await subscribers.notices.next() {
                try failure.map { try expectTimeout(.timeout(.pool), PipelineError($0, "")) }
                if failure == nil { open.insert(number) } else { waiting.insert(number) }
            }
            #expect(server.activity.connectionCount == 8)
            #expect(server.activity.requestCount == 8)
            let mover = Task {
                while !Task.isCancelled { try await clock.advanceToNextSleeper() }
            }
            defer { mover.cancel() }
            open.first.map { subscribers.readers[$0].cancel() }
            while let (number, failure) = await subscribers.notices.next() {
                if failure == nil { return (open, waiting, number) }
            }
            return (open, waiting, nil)
        }
        let (open, waiting, late) = try #require(ids)
        #expect(open.count == 8 && waiting.count == 2)
        #expect(late.map(waiting.contains) == true)
    }

    @Test(
        "S02 On AsyncHTTPClient without reconnection, a subscription fails with timeout.pool if no connection is free"
    )
    func busyWithoutReconnection() async throws {
        let code: PipelineError.Code?? = await inSomeTime { time in
            let server = try LoopbackServer { _ in [Self.head(), Self.chunk("data: 1\n\n"), .stall] }
            defer { server.stop() }
            let provider = Provider<Probe>(transport: Self.transport(time))
            var open: [ServerSentEvent.Subscription.AsyncIterator] = []
            for _ in 0..<8 {
                var events = provider.serverSentEvents(Probe(server), reconnection: .never).makeAsyncIterator()
                _ = try await events.next()
                open.append(events)
            }
            let error = await #expect(throws: PipelineError.self) {
                for try await _ in provider.serverSentEvents(Probe(server), reconnection: .never) {}
            }
            #expect(open.count == 8)
            try expectTimeout(.timeout(.pool), error)
            return error?.code
        }
        #expect(code == .timeout(.pool))
    }
    #endif

    @Test("A restart closes the connection of a silent stream and opens another", arguments: NetworkTransport.allCases)
    func restart(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { request in
            request.values(of: "Last-Event-ID") == []
                ? [Self.head(), Self.chunk("id: 1\ndata: 1\n\n"), .stall] : [.respond(204)]
        }
        defer { server.stop() }
        let news = Provider<Probe>(transport: transport.make(), configuration: .init(clock: ManualClock()))
            .serverSentEvents(Probe(server))
        var data: [String] = []
        for try await event in news {
            data.append(event.data)
            news.restart()
        }
        #expect(data == ["1"])
        #expect(server.requests.map { $0.values(of: "Last-Event-ID") } == [[], ["1"]])
        try await server.wait { $0.openConnectionCount <= 1 }
    }

    @Test(
        "C01: A subscription fails with connect.refused after the allowed number of refused attempts",
        arguments: NetworkTransport.allCases
    )
    func refused(_ transport: NetworkTransport) async throws {
        let refusal = try LoopbackPort.refusing()
        let provider = Provider<Probe>(transport: transport.make())
        let policy = ServerSentEvent.ReconnectionPolicy(maximumFailedAttempts: 1)
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in provider.serverSentEvents(Probe(refusal.url), reconnection: policy) {}
        }
        #expect(error?.code == .connect(.refused))
    }

    @Test(
        "Any other status fails with the response's body and leaves no connection open",
        arguments: NetworkTransport.allCases
    )
    func status(_ transport: NetworkTransport) async throws {
        let server = try LoopbackServer { _ in
            [.respond(503, headers: [("Connection", "close")], body: "later"), .close]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make(), configuration: .init(clock: ManualClock()))
        let error = await #expect(throws: PipelineError.self) {
            for try await _ in provider.serverSentEvents(Probe(server)) {}
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data == Data("later".utf8))
        try await server.wait { $0.openConnectionCount == 0 }
    }
}
