import Foundation
import PipelineTesting
import TestSupport
import Testing

@Suite("LoopbackServer", .timeLimit(.minutes(10)), .tags(.concurrent))
struct LoopbackServerTests {
    private static let echo: LoopbackServer.Handler = { request in
        [
            .respond(
                200,
                body: request.method.utf8 + Data(" ".utf8) + request.target.utf8 + Data(" ".utf8) + request.body
            )
        ]
    }

    @Test("a handler gets method, target, lines and body as they arrived")
    func request() async throws {
        let server = try LoopbackServer(handler: Self.echo)
        let client = try RawClient(port: server.port)
        client.send("POST /a?b HTTP/1.1\r\nX-A: 1\r\nx-a:2\r\nContent-Length: 5\r\n\r\nhello")
        #expect(client.receive(until: "hello").hasSuffix("\r\n\r\nPOST /a?b hello"))
        let request = try #require(server.requests.first)
        #expect(request.headerLines == ["X-A: 1", "x-a:2", "Content-Length: 5"])
        #expect(request.values(of: "X-a") == ["1", "2"])
    }

    @Test("a chunked body arrives without its chunks")
    func chunked() async throws {
        let server = try LoopbackServer(handler: Self.echo)
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\none\r\n3\r\ntwo\r\n0\r\nX-T: 1\r\n\r\n")
        #expect(client.receive(until: "onetwo").hasSuffix("PUT / onetwo"))
    }

    @Test("a connection serves one request after the other, also when they arrive together")
    func keepAlive() async throws {
        let server = try LoopbackServer(handler: Self.echo)
        let client = try RawClient(port: server.port)
        client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
        #expect(client.receive(until: "GET /2 ").contains("GET /1 "))
        client.send("GET /3 HTTP/1.1\r\n\r\n")
        #expect(client.receive(until: "GET /3 ").hasSuffix("GET /3 "))
        #expect(server.activity.connectionCount == 1)
        #expect(server.requests.map(\.target) == ["/1", "/2", "/3"])
    }

    @Test("close ends the connection after what was sent")
    func close() async throws {
        let server = try LoopbackServer { _ in [.send("half"), .close, .send("never")] }
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.receiveToEnd() == .end("half"))
        await server.wait { $0.openConnectionCount == 0 }
    }

    @Test("reset ends the connection with a reset")
    func reset() async throws {
        let server = try LoopbackServer { _ in [.reset] }
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.receiveToEnd() == .reset)
    }

    @Test("stall ends when the client hangs up")
    func stallHungUp() async throws {
        let server = try LoopbackServer { _ in [.stall] }
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        await server.wait { $0.requestCount == 1 }
        client.hangUp()
        await server.wait { $0.openConnectionCount == 0 }
        #expect(server.activity.connectionCount == 1)
    }

    @Test("hold waits for its name, and for no other")
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

    @Test("a greeting comes before any request")
    func greeting() async throws {
        let server = try LoopbackServer(greeting: [.send("hello"), .close]) { _ in [] }
        #expect(try RawClient(port: server.port).receiveToEnd() == .end("hello"))
    }

    @Test("receive takes bytes that need not be a request")
    func receive() async throws {
        let server = try LoopbackServer(greeting: [.receive, .send("thanks"), .close]) { _ in [] }
        let client = try RawClient(port: server.port)
        client.send("\u{16}anything")
        #expect(client.receiveToEnd() == .end("thanks"))
        #expect(server.requests.isEmpty)
    }

    @Test(
        "what is not a request is answered with 400",
        arguments: [
            "GET\r\n\r\n", "GET / FTP/1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        ]
    )
    func malformed(text: String) async throws {
        let server = try LoopbackServer(handler: Self.echo)
        let client = try RawClient(port: server.port)
        client.send(text)
        #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
        #expect(server.requests.isEmpty)
    }

    @Test(
        "a request over the limit is answered with 413",
        arguments: [
            "Content-Length: 101\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
            String(repeating: "X: 1234\r\n", count: 20),
        ]
    )
    func tooLarge(rest: String) async throws {
        let server = try LoopbackServer(requestByteCount: 100, handler: Self.echo)
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\n" + rest)
        #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413 "))
        #expect(server.requests.isEmpty)
    }

    @Test("204 and 304 say nothing of a length")
    func noLength() async throws {
        let server = try LoopbackServer { request in [.respond(Int(request.target.dropFirst()) ?? 500), .close] }
        for status in [204, 304] {
            let client = try RawClient(port: server.port)
            client.send("GET /\(status) HTTP/1.1\r\n\r\n")
            #expect(client.receiveToEnd() == .end("HTTP/1.1 \(status) Status\r\n\r\n"))
        }
    }

    @Test("stopping ends connections that stall, hold, read or send, and frees the port")
    func stop() async throws {
        let server = try LoopbackServer { request in
            switch request.target {
            case "/stall": [.stall]
            case "/hold": [.hold("never")]
            default: [.send(Data(count: 64 << 20))]
            }
        }
        let clients = try ["/stall", "/hold", "/send"].map { target in
            let client = try RawClient(port: server.port)
            client.send("GET \(target) HTTP/1.1\r\n\r\n")
            return client
        }
        let idle = try RawClient(port: server.port)
        await server.wait { $0.requestCount == 3 && $0.connectionCount == 4 }
        server.stop()
        server.stop()
        #expect(server.activity.openConnectionCount == 0)
        // Unless another server has the port by now.
        let isRefused = (try? RawClient(port: server.port)) == nil
        #expect(isRefused || server.activity.connectionCount == 4)
        withExtendedLifetime((clients, idle)) {}
    }

    @Test("whoever waits is let go when the server stops")
    func waitEnds() async throws {
        let server = try LoopbackServer(handler: Self.echo)
        let waiter = Task { await server.wait { $0.requestCount == 1_000 } }
        server.stop()
        await waiter.value
        #expect(server.requests.isEmpty)
    }

    @Test(
        "Waiting ends when the task is cancelled, before it and during it; others go on waiting",
        .timeLimit(.minutes(10))
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

    @Test("20 connections are served at once")
    func concurrent() async throws {
        let server = try LoopbackServer { _ in [.hold("all"), .respond(200), .close] }
        let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
        for client in clients { client.send("GET / HTTP/1.1\r\n\r\n") }
        await server.wait { $0.holdCount == 20 }
        server.release("all")
        for client in clients { #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 ")) }
    }

    @Test("a port that refuses does so")
    func refusal() throws {
        let refusal = try LoopbackRefusal()
        #expect(throws: (any Error).self) { _ = try RawClient(port: refusal.port) }
    }
}
