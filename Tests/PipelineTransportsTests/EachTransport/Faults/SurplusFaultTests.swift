import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Faults: bytes that belong to no response", .tags(.concurrent), .realTime, .watched)
struct SurplusFaultTests {
    private static let head = FramingBench.head

    /// A response that is complete without the bytes that may follow it.
    struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var method = HTTPRequest.Method.post
        let text: String
        let expected: FramingOutcome

        static let all = [
            Answer(testDescription: "204", text: "HTTP/1.1 204 None\r\n\r\n", expected: .answer(204, "")),
            Answer(
                testDescription: "204 with a length",
                text: "HTTP/1.1 204 None\r\nContent-Length: 7\r\n\r\n",
                expected: .answer(204, "")
            ),
            Answer(testDescription: "304", text: "HTTP/1.1 304 Same\r\n\r\n", expected: .answer(304, "")),
            Answer(
                testDescription: "HEAD",
                method: .head,
                text: SurplusFaultTests.head + "Content-Length: 7\r\n\r\n",
                expected: .answer(200, "")
            ),
            Answer(
                testDescription: "length",
                text: SurplusFaultTests.head + "Content-Length: 5\r\n\r\nhello",
                expected: .answer(200, "hello")
            ),
            Answer(
                testDescription: "chunks",
                text: SurplusFaultTests.head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                expected: .answer(200, "hello")
            ),
        ]
    }

    static let surplus = [
        "surplus", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "HTTP/1.1 200 OK\r\nX-Evil: ", "HTTP/1.1 20",
        "HTTP/1.1 100 Continue\r\n\r\n", "\r\nHTTP/1.1 200 OK\r\nX-Evil: evil\r\n",
    ]

    @Test(
        "H12: bytes after a response are part of neither it nor the next one",
        arguments: NetworkTransport.allCases,
        Answer.all
    )
    func together(transport: NetworkTransport, answer: Answer) async throws {
        for surplus in Self.surplus {
            let bench = try FramingBench(transport.make(), [.send(answer.text + surplus)])
            for isStreaming in [false, true] {
                let outcome = try await bench.outcome(method: answer.method, isStreaming: isStreaming)
                #expect(outcome == answer.expected, "\(surplus.debugDescription)")
                try await bench.checkNextCall()
            }
            if transport != .urlSession {
                #expect(bench.server.activity.connectionCount > 2, "a connection was reused")
            }
            bench.server.stop()
        }
    }

    @Test(
        "H12: bytes that arrive on an idle connection close it and are not part of the next response",
        arguments: NetworkTransport.allCases.filter(\.looksAtIdleConnections),
        Answer.all
    )
    func later(transport: NetworkTransport, answer: Answer) async throws {
        for surplus in Self.surplus {
            let bench = try await idleBench(transport, answer, surplus)
            try await bench.server.wait { $0.openConnectionCount == 0 }
            try await bench.checkLaterCall()
            bench.server.stop()
        }
    }

    #if canImport(FoundationNetworking)
    @Test("H12: URLSession on Linux takes a response that arrives on an idle connection for the next one")
    func laterOnLinux() async throws {
        let bench = try await idleBench(.urlSession, Answer.all[0], Self.surplus[1])
        let next = try await bench.provider.request(Probe(bench.server, "/next"))
        #expect(next.data == Data("evil".utf8))
        bench.server.stop()
    }
    #endif

    /// A bench whose response has arrived, with the surplus bytes after it.
    private func idleBench(
        _ transport: NetworkTransport,
        _ answer: Answer,
        _ surplus: String
    ) async throws -> FramingBench {
        let script: [LoopbackServer.Action] = [.send(answer.text), .hold("more"), .send(surplus), .hold("sent")]
        let bench = try FramingBench(transport.make(), script)
        #expect(try await bench.outcome(method: answer.method) == answer.expected)
        bench.server.release("more")
        try await bench.server.wait { $0.holdCount == 2 }
        bench.server.release("sent")
        return bench
    }

    @Test("a connection without surplus bytes is reused", arguments: NetworkTransport.allCases, Answer.all)
    func reuse(transport: NetworkTransport, answer: Answer) async throws {
        let bench = try FramingBench(transport.make(), [.send(answer.text)])
        for isStreaming in [false, true] {
            #expect(try await bench.outcome(method: answer.method, isStreaming: isStreaming) == answer.expected)
            try await bench.checkNextCall()
        }
        #expect(bench.server.activity.connectionCount == 1)
    }

    @Test(
        "a response that arrives byte by byte is complete, and its connection is reused",
        arguments: NetworkTransport.allCases,
        Answer.all
    )
    func byteByByte(transport: NetworkTransport, answer: Answer) async throws {
        let script = answer.text.utf8.map { LoopbackServer.Action.send(Data([$0])) }
        let bench = try FramingBench(transport.make(), script)
        #expect(try await bench.outcome(method: answer.method) == answer.expected)
        try await bench.checkNextCall()
        #expect(bench.server.activity.connectionCount == 1)
    }
}

extension NetworkTransport {
    /// Whether bytes that arrive on an idle connection close it: libcurl reads them with the next response.
    fileprivate var looksAtIdleConnections: Bool {
        #if canImport(FoundationNetworking)
        self != .urlSession
        #else
        true
        #endif
    }
}
