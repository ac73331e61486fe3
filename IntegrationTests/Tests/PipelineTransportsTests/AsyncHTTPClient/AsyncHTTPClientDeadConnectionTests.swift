import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineTransports

/// Row C13: a pooled connection that the server has just closed.
///
/// The pools are as small as possible: a connection returns to its pool a moment after its response has been read, and
/// a request sent before that moment would get a new connection.
@Suite("AsyncHTTPClientTransport, dead connections", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientDeadConnectionTests {
    /// A server that responds to the first request for `/dies` with the script, and to all others with 200.
    private static func server(_ script: LoopbackServer.Action...) throws -> LoopbackServer {
        let count = Atomic(0)
        return try LoopbackServer { request in
            guard request.target == "/dies" else { return [.respond(200)] }
            guard count.wrappingAdd(1, ordering: .relaxed).oldValue > 0 else { return script }
            return [.respond(200, body: request.method == "HEAD" ? "" : "alive")]
        }
    }

    @Test(
        "C13 C06 A safe request that dies on a reused connection is resent on a new one, within one exchange",
        arguments: ["GET", "HEAD", "OPTIONS", "QUERY"],
        [true, false]
    )
    func safe(name: String, isReset: Bool) async throws {
        let server = try Self.server(isReset ? .reset : .close)
        defer { server.stop() }
        let (seen, journal) = AsyncStream.makeStream(of: String.self)
        let provider = Provider<Probe>(
            transport: AsyncHTTPClientTransport(connectionsPerHost: 1),
            plugins: [
                .willSend { request, _ in journal.yield("willSend \(request.path)") },
                .didReceive { _, _ in journal.yield("didReceive") },
            ]
        )
        _ = try await provider.request(Probe(server, "/first"))
        let method = try #require(HTTPRequest.Method(rawValue: name))
        let response = try await provider.request(Probe(server, "/dies", method: method))
        #expect(response.statusCode == 200)
        #expect(response.exchanges.count == 1)
        journal.finish()
        let events = await seen.reduce(into: [String]()) { $0.append($1) }
        #expect(events == ["willSend /first", "didReceive", "willSend /dies", "didReceive"])
        #expect(server.requests.map(\.target) == ["/first", "/dies", "/dies"])
        #expect(server.activity.connectionCount == 2)
    }

    @Test("C13 The second try uses a new connection, however many old ones are in the pool")
    func manyDead() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { request in
            if request.target == "/first" { return [.hold("all are there"), .respond(200)] }
            return count.wrappingAdd(1, ordering: .relaxed).oldValue == 0 ? [.close] : [.respond(200)]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(connectionsPerHost: 6))
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { _ = try await provider.request(Probe(server, "/first")) } }
            try await server.wait { $0.holdCount == 6 }
            server.release("all are there")
            try await group.waitForAll()
        }
        #expect(try await provider.request(Probe(server, "/dies")).statusCode == 200)
        #expect(server.requests.count { $0.target == "/dies" } == 2)
        #expect(server.activity.connectionCount == 7)
    }

    @Test("C13 A body that can be replayed is resent in full", arguments: [10, 300_000])
    func body(byteCount: Int) async throws {
        let server = try Self.server(.close)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(connectionsPerHost: 1))
        _ = try await provider.request(Probe(server, "/first"))
        let data = Data(repeating: 7, count: byteCount)
        let query = try #require(HTTPRequest.Method(rawValue: "QUERY"))
        let response = try await provider.request(Probe(server, "/dies", method: query, task: .requestData(data)))
        #expect(response.data == Data("alive".utf8))
        #expect(server.requests.filter { $0.target == "/dies" }.map(\.body) == [data, data])
    }

    @Test(
        "C13 C06 A request with an unsafe method is never resent",
        arguments: [HTTPRequest.Method.post, .put, .delete, .patch]
    )
    func notSafe(method: HTTPRequest.Method) async throws {
        let server = try Self.server(.close)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(connectionsPerHost: 1))
        _ = try await provider.request(Probe(server, "/first"))
        #expect(try await provider.failureCode(Probe(server, "/dies", method: method)) == .connectionLost)
        #expect(server.requests.map(\.target) == ["/first", "/dies"])
    }

    @Test("C13 A body that cannot be replayed is not resent")
    func oneShotBody() async throws {
        let server = try Self.server(.close)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(connectionsPerHost: 1))
        _ = try await provider.request(Probe(server, "/first"))
        let (pieces, maker) = AsyncStream.makeStream(of: Data.self)
        maker.yield(Data("once".utf8))
        maker.finish()
        let query = try #require(HTTPRequest.Method(rawValue: "QUERY"))
        let target = Probe(server, "/dies", method: query, task: .requestStream(.stream(pieces)))
        #expect(try await provider.failureCode(target) == .connectionLost)
        #expect(server.requests.map(\.target) == ["/first", "/dies"])
    }

    @Test(
        "C13 A request is not resent after any byte of a response",
        arguments: ["H", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 103 Early Hints\r\n\r\n"]
    )
    func partialResponse(bytes: String) async throws {
        let server = try Self.server(.send(bytes), .close)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(connectionsPerHost: 1))
        _ = try await provider.request(Probe(server, "/first"))
        #expect(try await provider.failureCode(Probe(server, "/dies")) == .connectionLost)
        #expect(server.requests.map(\.target) == ["/first", "/dies"])
    }

    @Test("C13 A request may be resent if none of it was written, whatever its method")
    func unwritten() async throws {
        let trying = PluginStack.intercept(name: "trying") { request, context, next in
            let attempt = AsyncHTTPClientTry(context, headTimeout: nil, idleTimeout: nil)
            #expect(attempt.allowsAnother(request))
            attempt.connectionIsThere(PipelineExchange.Connection(isReused: true), hasResponded: true)
            #expect(!attempt.allowsAnother(request))
            return try await next(request)
        }
        let provider = Provider<Probe>(transport: ScriptedTransport([.status(200)]), plugins: [trying])
        let base = try #require(URL(string: "https://api.example"))
        #expect(try await provider.request(Probe(base, method: .post)).statusCode == 200)
    }

    @Test("C13 A request that dies on a connection without an earlier response is not resent")
    func newConnection() async throws {
        let server = try Self.server(.close)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport())
        #expect(try await provider.failureCode(Probe(server, "/dies")) == .connectionLost)
        #expect(server.requests.map(\.target) == ["/dies"])
    }

    /// A server that closes the connection at as many requests for `/dies` as `closes` says, when `close` is released.
    ///
    /// It responds to `/` at once, and to other requests when their path is released.
    private static func server(closes: ClosesLeft) throws -> LoopbackServer {
        try LoopbackServer { request in
            if request.target == "/dies", closes.take() { return [.hold("close"), .close] }
            return request.target == "/" ? [.respond(200)] : [.hold(request.target), .respond(200)]
        }
    }

    private final class ClosesLeft: Sendable {
        private let count = Mutex(0)

        func set(_ number: Int) { count.withLock { $0 = number } }

        func take() -> Bool {
            count.withLock { count in
                count -= 1
                return count >= 0
            }
        }
    }

    @Test("C13 The third try does not get a connection of the second try's pool, which may be as dead")
    func thirdTry() async throws {
        let closes = ClosesLeft()
        let server = try Self.server(closes: closes)
        defer { server.stop() }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(connectionsPerHost: 2))
        // Two connections for first tries, which die, two for second tries, and two for first tries again.
        for (path, holds) in [
            ("/first", [(2, "/first")]), ("/dies", [(4, "close"), (6, "/dies")]), ("/last", [(8, "/last")]),
        ] {
            closes.set(2)
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 { group.addTask { _ = try await provider.request(Probe(server, path)) } }
                group.addTask {
                    // Both requests have arrived before either of them continues.
                    for (count, name) in holds {
                        try await server.wait { $0.holdCount == count }
                        server.release(name)
                    }
                }
                try await group.waitForAll()
            }
        }
        closes.set(2)
        #expect(server.activity.connectionCount == 6)
        #expect(try await provider.request(Probe(server, "/dies")).statusCode == 200)
        #expect(server.activity.connectionCount == 7)
    }

    @Test("C13 A request is resent at most twice, however many dead connections it gets")
    func maximum() async throws {
        let closes = ClosesLeft()
        let server = try Self.server(closes: closes)
        defer { server.stop() }
        for name in ["/dies", "close"] { server.release(name) }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(connectionsPerHost: 1))
        // Leaves a connection for the third try, and then one for the second.
        for count in [1, 2, 1] {
            _ = try await provider.request(Probe(server, "/"))
            closes.set(count)
            _ = try await provider.request(Probe(server, "/dies"))
        }
        _ = try await provider.request(Probe(server, "/"))
        closes.set(3)
        let sentCount = server.requests.count
        #expect(try await provider.failureCode(Probe(server, "/dies")) == .connectionLost)
        #expect(server.requests.count == sentCount + 3)
    }

    @Test("C13 The second try counts towards the attempt timeout, which starts with the first connection")
    func attemptTimeout() async throws {
        let clock = ManualClock()
        let count = Atomic(0)
        let server = try LoopbackServer { request in
            guard request.target == "/dies" else { return [.respond(200)] }
            let isFirst = count.wrappingAdd(1, ordering: .relaxed).oldValue == 0
            return isFirst ? [.hold("first"), .close] : [.hold("second"), .respond(200)]
        }
        defer { server.stop() }
        let provider = Provider<Probe>(
            transport: AsyncHTTPClientTransport(connectionsPerHost: 1),
            configuration: .init(clock: clock)
        )
        _ = try await provider.request(Probe(server, "/first"))
        let target = Probe(server, "/dies").with(attemptTimeout: .seconds(2))
        async let failure = provider.failure(target)
        try await server.wait { $0.holdCount == 1 }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        server.release("first")
        try await server.wait { $0.holdCount == 2 }
        clock.advance(by: .seconds(1))
        let error = try await failure
        #expect(error?.code == .timeout(.attempt))
        #expect(error?.exchanges.map(\.duration) == [.seconds(2)])
        #expect(error?.exchanges.map(\.connectionWait) == [.zero])
    }
}
