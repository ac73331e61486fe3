import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSessionTransport: failures", .timeLimit(.minutes(10)), .tags(.concurrent))
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
        let url = try #require(URL(string: "http://\(String(repeating: "a", count: 64)).invalid"))
        let connected = Provider<Probe>(transport: URLSessionTransport(machine: .fake()))
        #expect(try await connected.failureCode(Probe(url)) == .dns)
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

    @Test("C06: on Linux a call that dies on one reused connection after the other is connectionLost after six tries")
    func reusedConnections() async throws {
        let server = try LoopbackServer { request in
            request.target == "/first" ? [.hold("all are there"), .respond(200)] : [.close]
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { _ = try await provider.request(Probe(server, "/first")) } }
            await server.wait { $0.holdCount == 6 }
            server.release("all are there")
            try await group.waitForAll()
        }
        #expect(try await provider.failureCode(Probe(server, "/dies", method: .post)) == .connectionLost)
        #expect(server.requests.filter { $0.target == "/dies" }.count == 6)
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
