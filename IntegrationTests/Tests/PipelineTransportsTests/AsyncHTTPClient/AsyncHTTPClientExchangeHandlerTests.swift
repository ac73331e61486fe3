import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport: connections", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientExchangeHandlerTests {
    static let head = FramingBench.head
    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"

    @Test("H09: a call can raise the limit on header fields to at most 256 KiB", arguments: [200_000, 300_000])
    func headerBytes(count: Int) async throws {
        let text = "\(Self.head)X-A: \(String(repeating: "a", count: count))\r\nContent-Length: 5\r\n\r\nhello"
        let limits = ProviderConfiguration.Limits(headerByteCount: 1 << 20)
        let bench = try FramingBench(AsyncHTTPClientTransport(), [.send(text)], limits: limits)
        let isAllowed = count < 256 << 10
        #expect(try await bench.outcome() == (isAllowed ? .answer(200, "hello") : .failure(.limit(.headerBytes))))
        if !isAllowed { try await bench.server.wait { $0.openConnectionCount == 0 } }
        try await bench.checkNextCall()
    }

    @Test("the reason phrase is lost")
    func reasonPhrase() async throws {
        let text = "HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n"
        let bench = try FramingBench(AsyncHTTPClientTransport(), [.send(text)])
        let response = try await bench.provider.request(Probe(bench.server, "/fault"))
        #expect(response.head.status.reasonPhrase.isEmpty)
    }

    @Test("trailer fields are ignored, and the connection is reused")
    func trailers() async throws {
        let bench = try FramingBench(
            AsyncHTTPClientTransport(),
            [.send(Self.chunked + "X-Trailer: a\r\nX-Empty:\r\nX-Last: b\r\n\r\n")]
        )
        let response = try await bench.provider.request(Probe(bench.server, "/fault"))
        #expect(response.data == Data("hello".utf8))
        #expect(response.headers.map(\.name.rawName) == ["X-Secret", "Transfer-Encoding"])
        try await bench.checkNextCall()
        #expect(bench.server.activity.connectionCount == 1)
    }

    @Test(
        "malformed or oversized trailer fields fail the body",
        arguments: [
            ("no colon\r\n\r\n", PipelineError.Code.malformedResponse), (": a\r\n\r\n", .malformedResponse),
            ("X-A: a\u{0}b\r\n\r\n", .malformedResponse), ("X-A: a\r\n b\r\n\r\n", .malformedResponse),
            ("X-A: \(String(repeating: "a", count: 300_000))\r\n\r\n", .limit(.headerBytes)),
        ]
    )
    func badTrailers(trailers: String, code: PipelineError.Code) async throws {
        let bench = try FramingBench(AsyncHTTPClientTransport(), [.send(Self.chunked + trailers)])
        for isStreaming in [false, true] {
            #expect(try await bench.outcome(isStreaming: isStreaming) == .failure(code))
            try await bench.server.wait { $0.openConnectionCount == 0 }
            try await bench.checkNextCall()
        }
    }

    @Test("H10: more than 1,000 trailer fields fail with limit.headerCount", arguments: [1_000, 1_001, 5_000])
    func trailerCount(count: Int) async throws {
        let fields = String(repeating: "X-A: a\r\n", count: count)
        let bench = try FramingBench(AsyncHTTPClientTransport(), [.send(Self.chunked + fields + "\r\n")])
        for isStreaming in [false, true] {
            let outcome = try await bench.outcome(isStreaming: isStreaming)
            #expect(outcome == (count <= 1_000 ? .answer(200, "hello") : .failure(.limit(.headerCount))))
            if count > 1_000 { try await bench.server.wait { $0.openConnectionCount == 0 } }
            try await bench.checkNextCall()
        }
    }

    @Test("H12: a call that waits for a connection with surplus bytes gets its own response on another one")
    func waitingCall() async throws {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        for surplus in SurplusFaultTests.surplus {
            let text = "HTTP/1.1 204 None\r\n\r\n\(surplus)"
            let bench = try FramingBench(transport, [.hold("answer"), .send(text)])
            async let first = bench.outcome()
            try await bench.server.wait { $0.holdCount == 1 }
            async let second = bench.provider.request(Probe(bench.server, "/next"))
            bench.server.release("answer")
            #expect(try await first == .answer(204, ""))
            let next = try await second
            #expect(next.data == Data("next".utf8))
            #expect(next.headers.count == 1)
            try await bench.checkNextCall()
        }
    }
}
