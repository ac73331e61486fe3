import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import PipelineTransports
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSessionTransport: failures", .timeLimit(.minutes(2)))
struct URLSessionFailureTests {
    private let provider = Provider<Probe>(transport: URLSessionTransport(), redirects: .none)

    /// What a POST comes to that is answered with this script; POST, because it is not tried again.
    private func code(_ script: [LoopbackServer.Action]) async throws -> PipelineError.Code? {
        let server = try LoopbackServer { _ in script }
        defer { server.stop() }
        return try await provider.failureCode(Probe(server, method: .post))
    }

    @Test("C01: a refused connection is connect.refused")
    func refused() async throws {
        let refusal = try LoopbackRefusal()
        #expect(try await provider.failureCode(Probe(refusal.url)) == .connect(.refused))
    }

    @Test("C02: a name that does not resolve is dns")
    func dns() async throws {
        let url = try #require(URL(string: "http://x.invalid"))
        #expect(try await provider.failureCode(Probe(url)) == .dns)
    }

    @Test("C04: a server that does not speak TLS is tls, and sees nothing of the request")
    func plaintext() async throws {
        let server = try LoopbackServer(greeting: [.receive, .respond(400), .close]) { _ in [.respond(200)] }
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)"))
        #expect(try await provider.failureCode(Probe(url)) == .tls)
        #expect(server.requests.isEmpty)
    }

    @Test("C04: a connection closed within the handshake is tls, or connectionLost when the close arrives as a reset")
    func handshake() async throws {
        let server = try LoopbackServer(greeting: [.receive, .close]) { _ in [.respond(200)] }
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)"))
        let code = try #require(try await provider.failureCode(Probe(url)))
        #expect([.tls, .connectionLost].contains(code))
        #expect(server.requests.isEmpty)
    }

    @Test("C05, H14: a connection that closes before any byte is connectionLost")
    func emptyAnswer() async throws {
        #expect(try await code([.close]) == .connectionLost)
        #expect(try await code([.reset]) == .connectionLost)
    }

    @Test("C06: an idle connection that the server closed is replaced, and the call succeeds")
    func staleConnection() async throws {
        let server = try LoopbackServer { _ in [.respond(200), .close] }
        for _ in 0..<3 { #expect(try await provider.request(Probe(server, method: .post)).statusCode == 200) }
        #expect(server.activity.requestCount == 3)
    }

    #if canImport(FoundationNetworking)
    @Test(
        "C06: on Linux a call that dies on a reused connection before any byte is sent once more, whatever its method"
    )
    func reusedConnection() async throws {
        let server = try LoopbackServer { request in
            request.target == "/first" ? [.respond(200)] : [.close]
        }
        _ = try await provider.request(Probe(server, "/first"))
        #expect(try await provider.failureCode(Probe(server, "/dies", method: .post)) == .connectionLost)
        #expect(server.requests.map(\.target) == ["/first", "/dies", "/dies"])
    }
    #endif

    @Test("C07: a reset within the body is connectionLost, after the bytes that came before it")
    func reset() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .hold("reset"), .reset]
        }
        let response = try await provider.stream(Probe(server))
        var collected = Data()
        let error = await #expect(throws: PipelineError.self) {
            for try await chunk in response.body {
                collected.append(chunk)
                server.release("reset")
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(collected == Data("one".utf8))
    }

    @Test("C09, H01: a body that ends at any byte before its length is truncated")
    func truncated() async throws {
        let body = "0123456789abcdef"
        for count in 0..<16 {
            let text = "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n\(body.prefix(count))"
            #expect(try await code([.send(text), .close]) == .truncated, "\(count) bytes")
        }
        #expect(try await code([.send("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n\(body)"), .close]) == nil)
    }

    @Test(
        "H02: a chunked body that ends early is truncated",
        arguments: ["3", "3\r\non", "3\r\none\r\n", "3\r\none\r\n0\r\n"]
    )
    func cutChunks(chunks: String) async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try await code([.send(head + chunks), .close]) == .truncated)
    }

    @Test(
        "H03, H05: a Content-Length that is not one number is malformedResponse",
        arguments: [
            "2\r\nContent-Length: 5", "5\r\nContent-Length: 2", "-5", "+5", "0x5", "5 5", "99999999999999999999", "",
        ]
    )
    func contentLength(value: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\nhello"
        #expect(try await code([.send(text), .close]) == .malformedResponse)
    }

    @Test("H04: two equal Content-Lengths are one")
    func equalContentLengths() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello")]
        }
        let response = try await provider.request(Probe(server))
        #expect(response.headers[.contentLength] == "5")
        #expect(response.data == Data("hello".utf8))
    }

    @Test("H06: chunks win over a Content-Length")
    func lengthAndChunks() async throws {
        let server = try LoopbackServer { _ in
            [
                .send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                ), .close,
            ]
        }
        let response = try await provider.request(Probe(server))
        #expect(response.data == Data("hello".utf8))
        #expect(response.headers[.contentLength] == nil)
    }

    @Test(
        "H07: a status line that is none is malformedResponse",
        arguments: [
            "garbage", "HTTP/1.1 abc", "HTTP/1.1 99 Low", "HTTP/1.1 1000 High", "hello", "\u{0}HTTP/1.1 200 OK",
        ]
    )
    func statusLine(line: String) async throws {
        #expect(try await code([.send(line + "\r\n\r\n"), .close]) == .malformedResponse)
    }

    @Test("H08: a header line that is none is malformedResponse", arguments: ["no colon", "X-A : 1", "X-A: a\u{0}b"])
    func headerLine(line: String) async throws {
        let text = "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 2\r\n\r\nhi"
        #expect(try await code([.send(text), .close]) == .malformedResponse)
    }

    @Test("H12: bytes after an answer that has no body are not its body")
    func surplusBytes() async throws {
        let server = try LoopbackServer { _ in [.send("HTTP/1.1 204 None\r\n\r\nsurplus"), .close] }
        #expect(try await provider.request(Probe(server)).data.isEmpty)
    }

    #if canImport(FoundationNetworking)
    @Test("H09: on Linux a header field of 400 KB is limit.headerBytes")
    func largeField() async throws {
        let text = "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: 400_000))\r\nContent-Length: 2\r\n\r\nhi"
        #expect(try await code([.send(text), .close]) == .limit(.headerBytes))
    }

    @Test("H13: on Linux a field value that is not UTF-8 is malformedResponse")
    func latin1() async throws {
        let bytes = Data("HTTP/1.1 200 OK\r\nX-A: caf".utf8) + [0xe9] + Data("\r\nContent-Length: 2\r\n\r\nhi".utf8)
        #expect(try await code([.send(bytes), .close]) == .malformedResponse)
    }
    #endif

    @Test("no error text shows query, field or body, nor does Foundation's error below it")
    func secrets() async throws {
        let canary = "canary-5b1f"
        let scripts: [[LoopbackServer.Action]] = [
            [.close], [.send("garbage\r\n\r\n"), .close],
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .close],
        ]
        for script in scripts {
            let server = try LoopbackServer { _ in script }
            var target = Probe(server, method: .post, task: .requestData(Data(canary.utf8)))
            target.headers = ["Authorization": "Bearer \(canary)"]
            let provider = Provider<Probe>(
                transport: URLSessionTransport(),
                plugins: [.prepare { request, _ in request.appendQuery("token=\(canary)") }]
            )
            let error = try #require(await provider.failure(target))
            let texts = [
                "\(error)", error.reason, error.localizedDescription, "\(String(describing: error.underlyingError))",
            ]
            for text in texts { #expect(!text.contains(canary), "\(text)") }
        }
    }
}
