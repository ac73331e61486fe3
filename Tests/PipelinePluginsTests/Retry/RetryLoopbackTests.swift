import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RetryPlugin over loopback HTTP", .tags(.concurrent), .realTime, .watched)
struct RetryLoopbackTests {
    private static func provider(_ plugin: RetryPlugin) -> Provider<Ask> {
        Provider(transport: URLSessionTransport(), plugins: [plugin])
    }

    @Test("A server that fails twice, in two ways, receives three requests")
    func twice() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            switch count.add(1, ordering: .relaxed).newValue {
            case 1: [.respond(503, headers: [("Retry-After", "0")], body: "busy")]
            case 2: [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), .close]
            default: [.respond(200, body: "fine")]
            }
        }
        defer { server.stop() }
        let provider = Self.provider(RetryPlugin(backoff: .constant(.milliseconds(1))))
        let response = try await provider.request(Ask(url: "\(server.url)"))
        #expect(try response.mapString() == "fine")
        #expect(response.exchanges.map(\.statusCode) == [503, nil, 200])
        #expect(response.exchanges.map(\.attempt) == [1, 2, 3])
    }

    @Test("C05 C06 A POST whose connection is lost is retried only with a key, the same in each attempt")
    func post() async throws {
        let server = try LoopbackServer { request in
            request.target == "/lost" ? [.reset] : [.respond(200)]
        }
        defer { server.stop() }
        let provider = Self.provider(RetryPlugin(backoff: .immediate))
        let target = Ask(url: "\(server.url)", path: "/lost", method: .post, task: .requestData(Data("x".utf8)))
        let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
        #expect(error?.exchanges.map(\.refusedRetry) == [.methodNotIdempotent])
        #expect(server.requests.count == 1)
        let options = RequestOptions { $0.idempotencyKey = .generated }
        let keyed = await #expect(throws: PipelineError.self) { try await provider.request(target, options: options) }
        #expect(keyed?.exchanges.count == 3)
        let keys = server.requests.dropFirst().map { $0.values(of: "Idempotency-Key") }
        #expect(keys.count == 3)
        #expect(Set(keys).count == 1)
        #expect(keys.first?.count == 1)
        #expect(server.requests.allSatisfy { $0.body == Data("x".utf8) })
    }

    @Test("C01 A refused connection is retried, even for a POST")
    func refused() async throws {
        let refusal = try LoopbackPort.refusing()
        let provider = Self.provider(RetryPlugin(maximumAttempts: 2, backoff: .immediate))
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Ask(url: "\(refusal.url)", method: .post))
        }
        #expect(error?.code == .connect(.refused))
        #expect(error?.exchanges.map(\.attempt) == [1, 2])
    }

    @Test("T07 The streamed body of a failed attempt is drained or closed, and no connection stays open")
    func streamed() async throws {
        let count = Atomic(0)
        let server = try LoopbackServer { _ in
            switch count.add(1, ordering: .relaxed).newValue {
            case 1: [.respond(503, body: "short")]
            case 2: [.send("HTTP/1.1 503 Busy\r\nContent-Length: 999999\r\n\r\nlong"), .stall]
            default: [.respond(200, body: "fine")]
            }
        }
        defer { server.stop() }
        let response = try await Self.provider(RetryPlugin(backoff: .constant(.milliseconds(20)))).stream(
            Ask(url: "\(server.url)")
        )
        #expect(response.statusCode == 200)
        var text = Data()
        for try await chunk in response.body { text += chunk }
        #expect(text == Data("fine".utf8))
        try await server.wait { $0.requestCount == 3 && $0.openConnectionCount <= 1 }
    }
}
