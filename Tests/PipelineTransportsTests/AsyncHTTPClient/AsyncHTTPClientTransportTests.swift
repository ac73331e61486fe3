#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import Pipeline
import PipelineTesting
import PipelineTransports
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport", .timeLimit(.minutes(10)), .tags(.concurrent))
struct AsyncHTTPClientTransportTests {
    @Test("request fields go out in their order, repeats kept, and nothing but Host and the framing is added")
    func requestFields() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let names = ["X-Z", "X-A", "X-Z", "x-mixed-Case"].compactMap { HTTPField.Name($0) }
        let host = try #require(HTTPField.Name("Host"))
        let provider = Provider<Probe>(
            transport: AsyncHTTPClientTransport(),
            plugins: [
                .prepare { request, _ in
                    for (index, name) in names.enumerated() {
                        request.headers.append(HTTPField(name: name, value: "\(index)"))
                    }
                }
            ]
        )
        _ = try await provider.request(Probe(server))
        let body = RequestTask.requestData(Data("body".utf8))
        _ = try await provider.request(Probe(server, method: .post, task: body))
        let framed = Provider<Probe>(
            transport: AsyncHTTPClientTransport(),
            plugins: [
                .prepare { request, _ in
                    request.headers[host] = "127.0.0.1:\(server.port)"
                    request.headers[.contentLength] = "4"
                }
            ]
        )
        _ = try await framed.request(Probe(server, method: .post, task: body))
        let own = ["X-Z: 0", "X-A: 1", "X-Z: 2", "x-mixed-Case: 3"]
        let sent = server.requests.map {
            $0.headerLines.map { $0.replacingOccurrences(of: "\(server.port)", with: "P") }
        }
        #expect(sent[0].filter { !$0.lowercased().hasPrefix("host:") } == own)
        #expect(
            Set(sent[1].map { $0.lowercased() }).subtracting(own.map { $0.lowercased() }) == [
                "host: 127.0.0.1:p", "content-length: 4",
            ]
        )
        #expect(Set(sent[2].map { $0.lowercased() }) == ["host: 127.0.0.1:p", "content-length: 4"])
    }

    @Test("response fields keep their order, their case and their repeats")
    func responseFields() async throws {
        let lines = ["X-C: 3", "x-b: 2", "Set-Cookie: a=1, b", "X-A: 1", "Set-Cookie: b=2", "x-B: 4"]
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\n\(lines.joined(separator: "\r\n"))\r\nContent-Length: 0\r\n\r\n")]
        }
        let response = try await Provider<Probe>(transport: AsyncHTTPClientTransport()).request(Probe(server))
        #expect(response.headers.map { "\($0.name.rawName): \($0.value)" } == lines + ["Content-Length: 0"])
    }

    @Test("redirects and decompression of the configuration are not used")
    func forcedSettings() async throws {
        let server = try LoopbackServer { _ in
            [.respond(302, headers: [("Location", "/there"), ("Content-Encoding", "gzip")], body: "not gzip")]
        }
        let transport = AsyncHTTPClientTransport(configuration: .singletonConfiguration)
        #expect(!transport.decodesContent)
        let response = try await Provider<Probe>(transport: transport, redirects: .none).request(Probe(server))
        #expect(response.statusCode == 302)
        #expect(response.data == Data("not gzip".utf8))
        #expect(response.headers[.contentEncoding] == "gzip")
        #expect(server.requests.count == 1)
    }

    @Test("an exchange has one attempt at a connection, whatever the method")
    func oneAttempt() async throws {
        let refusal = try LoopbackRefusal()
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = .minutes(3)
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(configuration: configuration))
        let start = ContinuousClock.now
        #expect(try await provider.failureCode(Probe(refusal.url, method: .post)) == .connect(.refused))
        // With attempts of its own AsyncHTTPClient would take all the time of `timeout.connect`.
        #expect(ContinuousClock.now - start < .seconds(120))
    }

    @Test("headTimeout ends an exchange whose header fields do not come, and no other")
    func headTimeout() async throws {
        let server = try LoopbackServer { request in
            request.target == "/stall" ? [.send("HTTP/1.1 200 OK\r\nX"), .stall] : [.respond(200)]
        }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(headTimeout: .milliseconds(200)))
        #expect(try await provider.failureCode(Probe(server, "/stall")) == .timeout(.head))
        await server.wait { $0.openConnectionCount == 0 }
        let patient = Provider<Probe>(transport: AsyncHTTPClientTransport(headTimeout: .seconds(50)))
        #expect(try await patient.request(Probe(server)).statusCode == 200)
    }

    @Test("a body that is larger than the limit is refused, announced or not, and its connection is closed")
    func limit() async throws {
        let head = "HTTP/1.1 200 OK\r\n"
        let server = try LoopbackServer { request in
            request.target == "/announced"
                ? [.send(head + "Content-Length: 1001\r\n\r\n"), .stall]
                : [
                    .send(head + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + String(repeating: "a", count: 1_001)),
                    .stall,
                ]
        }
        let limits = PipelineLimits(bufferedBodyByteCount: 1_000)
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(), limits: limits)
        for path in ["/announced", "/chunked"] {
            #expect(try await provider.failureCode(Probe(server, path)) == .limit(.bodyBytes))
            await server.wait { $0.openConnectionCount == 0 }
        }
    }

    @Test("a body with TRACE is invalidRequest.body, and nothing is sent")
    func trace() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport())
        let target = Probe(server, method: .trace, task: .requestData(Data("body".utf8)))
        #expect(try await provider.failureCode(target) == .invalidRequest(.body))
        #expect(server.activity.connectionCount == 0)
    }
}
#endif
