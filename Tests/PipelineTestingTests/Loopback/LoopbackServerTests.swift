import Foundation
import PipelineTesting
import TestSupport
import Testing

@Suite("LoopbackServer", .tags(.concurrent), .realTime, .watched)
struct LoopbackServerTests {
    static let echo: LoopbackServer.Handler = { request in
        [
            .respond(
                200,
                body: request.method.utf8 + Data(" ".utf8) + request.target.utf8 + Data(" ".utf8) + request.body
            )
        ]
    }

    @Test("close ends the connection after the bytes sent before it")
    func close() async throws {
        let server = try LoopbackServer { _ in [.send("half"), .close, .send("never")] }
        let client = try RawClient(port: server.port)
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(client.receiveToEnd() == .end("half"))
        try await server.wait { $0.openConnectionCount == 0 }
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
        try await server.wait { $0.requestCount == 1 }
        client.hangUp()
        try await server.wait { $0.openConnectionCount == 0 }
        #expect(server.activity.connectionCount == 1)
    }

    @Test("a greeting comes before any request")
    func greeting() async throws {
        let server = try LoopbackServer(greeting: [.send("hello"), .close]) { _ in [] }
        #expect(try RawClient(port: server.port).receiveToEnd() == .end("hello"))
    }

    @Test("receive accepts bytes that are not a request")
    func receive() async throws {
        let server = try LoopbackServer(greeting: [.receive, .send("thanks"), .close]) { _ in [] }
        let client = try RawClient(port: server.port)
        client.send("\u{16}anything")
        #expect(client.receiveToEnd() == .end("thanks"))
        #expect(server.requests.isEmpty)
    }

    @Test("204 and 304 have no Content-Length")
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
        try await server.wait { $0.requestCount == 3 && $0.connectionCount == 4 }
        server.stop()
        server.stop()
        #expect(server.activity.openConnectionCount == 0)
        // Unless another server uses the port by now.
        let isRefused = (try? RawClient(port: server.port)) == nil
        #expect(isRefused || server.activity.connectionCount == 4)
        withExtendedLifetime((clients, idle)) {}
    }

    @Test("20 connections are served at once")
    func concurrent() async throws {
        let server = try LoopbackServer { _ in [.hold("all"), .respond(200), .close] }
        let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
        for client in clients { client.send("GET / HTTP/1.1\r\n\r\n") }
        try await server.wait { $0.holdCount == 20 }
        server.release("all")
        for client in clients { #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200 ")) }
    }
}
