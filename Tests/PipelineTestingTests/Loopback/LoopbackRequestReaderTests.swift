import Foundation
import PipelineTesting
import TestSupport
import Testing

@Suite("LoopbackServer, requests", .tags(.concurrent), .realTime, .watched)
struct LoopbackRequestReaderTests {
    @Test("a handler receives method, target, header lines and body as they arrived")
    func request() async throws {
        let server = try LoopbackServer(handler: LoopbackServerTests.echo)
        let client = try RawClient(port: server.port)
        client.send("POST /a?b HTTP/1.1\r\nX-A: 1\r\nx-a:2\r\nContent-Length: 5\r\n\r\nhello")
        #expect(client.receive(until: "hello").hasSuffix("\r\n\r\nPOST /a?b hello"))
        let request = try #require(server.requests.first)
        #expect(request.headerLines == ["X-A: 1", "x-a:2", "Content-Length: 5"])
        #expect(request.values(of: "X-a") == ["1", "2"])
    }

    @Test("a chunked body arrives without its chunk framing")
    func chunked() async throws {
        let server = try LoopbackServer(handler: LoopbackServerTests.echo)
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\none\r\n3\r\ntwo\r\n0\r\nX-T: 1\r\n\r\n")
        #expect(client.receive(until: "onetwo").hasSuffix("PUT / onetwo"))
    }

    @Test("a connection serves requests in turn, even if they arrive together")
    func keepAlive() async throws {
        let server = try LoopbackServer(handler: LoopbackServerTests.echo)
        let client = try RawClient(port: server.port)
        client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
        #expect(client.receive(until: "GET /2 ").contains("GET /1 "))
        client.send("GET /3 HTTP/1.1\r\n\r\n")
        #expect(client.receive(until: "GET /3 ").hasSuffix("GET /3 "))
        #expect(server.activity.connectionCount == 1)
        #expect(server.requests.map(\.target) == ["/1", "/2", "/3"])
    }

    @Test(
        "the response to a malformed request is 400",
        arguments: [
            "GET\r\n\r\n", "GET / FTP/1\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        ]
    )
    func malformed(text: String) async throws {
        let server = try LoopbackServer(handler: LoopbackServerTests.echo)
        let client = try RawClient(port: server.port)
        client.send(text)
        #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
        #expect(server.requests.isEmpty)
    }

    @Test(
        "the response to a request over the limit is 413",
        arguments: [
            "Content-Length: 101\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n",
            String(repeating: "X: 1234\r\n", count: 20),
        ]
    )
    func tooLarge(rest: String) async throws {
        let server = try LoopbackServer(requestByteCount: 100, handler: LoopbackServerTests.echo)
        let client = try RawClient(port: server.port)
        client.send("PUT / HTTP/1.1\r\n" + rest)
        #expect(client.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 413 "))
        #expect(server.requests.isEmpty)
    }
}
