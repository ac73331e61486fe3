import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Faults: framing", .tags(.concurrent), .realTime, .watched)
struct FramingFaultTests {
    private static let head = FramingBench.head
    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
    private static let hello = FramingOutcome.answer(200, "hello")
    private static let malformed = FramingOutcome.failure(.malformedResponse)
    private static let truncated = FramingOutcome.failure(.truncated)

    @Test("H01: a body cut at any byte before its length fails with truncated", arguments: NetworkTransport.allCases)
    func cutBody(transport: NetworkTransport) async throws {
        for count in 0..<16 {
            let text = Self.head + "Content-Length: 16\r\n\r\n" + FramingBench.canary.prefix(count)
            try await FramingBench.check(FramingRow(text, Self.truncated, closes: true), on: transport)
        }
    }

    static let cutChunks =
        [
            "", "3", "3\r", "3\r\n", "3\r\non", "3\r\none", "3\r\none\r", "3\r\none\r\n", "3\r\none\r\n0",
            "3\r\none\r\n0\r\n",
        ].map { FramingRow(chunked + $0, truncated, closes: true) } + [
            // The whole body is present, and half of the empty line after the last chunk.
            FramingRow(
                chunked + "3\r\none\r\n0\r\n\r",
                truncated,
                closes: true,
                urlSessionOnLinux: .answer(200, "one")
            )
        ]

    @Test("H02: a chunked body that ends early fails with truncated", arguments: NetworkTransport.allCases, cutChunks)
    func cutChunk(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    static let lengths = [
        "2\r\nContent-Length: 5", "5\r\nContent-Length: 2", "5, 6", "-5", "+5", "0x5", "5 5", "5_0", "5;", "",
        "9223372036854775808", "18446744073709551615", "99999999999999999999",
    ].map { FramingRow(head + "Content-Length: \($0)\r\n\r\nhello", malformed) }

    @Test(
        "H03, H05: a Content-Length that is not one number fails with malformedResponse",
        arguments: NetworkTransport.allCases,
        lengths
    )
    func length(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    // A recipient may treat equal lengths as one, or reject them. RFC 9110 §8.6.
    static let equalLengths = ["5\r\nContent-Length: 5", "5, 5"].map {
        FramingRow(head + "Content-Length: \($0)\r\n\r\nhello", hello, asyncHTTPClient: malformed)
    }

    @Test(
        "H04: two equal Content-Lengths count as one, but fail with malformedResponse on AsyncHTTPClient",
        arguments: NetworkTransport.allCases,
        equalLengths
    )
    func equalLength(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    // A recipient may read the chunks, or reject the response. RFC 9112 §6.3.
    static let lengthsAndChunks = [
        "Content-Length: 9\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 2",
    ].map { FramingRow(head + $0 + "\r\n\r\n5\r\nhello\r\n0\r\n\r\n", hello, asyncHTTPClient: malformed) }

    @Test(
        "H06: chunks override a Content-Length, but both fail with malformedResponse on AsyncHTTPClient",
        arguments: NetworkTransport.allCases,
        lengthsAndChunks
    )
    func lengthAndChunks(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    @Test("H06: a Content-Length that chunks override is removed")
    func lengthIsGone() async throws {
        let bench = try FramingBench(NetworkTransport.urlSession.make(), Self.lengthsAndChunks[0].actions)
        let response = try await bench.provider.request(Probe(bench.server, "/fault"))
        #expect(response.headers[.contentLength] == nil)
    }

    static let codings =
        ["Chunked", "chunked, chunked"].map {
            FramingRow(head + "Transfer-Encoding: \($0)\r\n\r\n5\r\nhello\r\n0\r\n\r\n", hello)
        }
        + ["gzip, chunked", "xchunked"].map {
            FramingRow(
                head + "Transfer-Encoding: \($0)\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
                malformed,
                closes: true,
                urlSessionOnLinux: .failure(.contentCoding(.corrupt))
            )
        }

    @Test(
        "a transfer coding other than chunked fails with malformedResponse, or contentCoding (URLSession on Linux)",
        arguments: NetworkTransport.allCases,
        codings
    )
    func coding(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    static let statusLines =
        [
            "garbage \(FramingBench.canary)", "hello", "HTTP/1.1 abc", "HTTP/1.1 20 OK", "HTTP/1.1 -20 OK",
            "HTTP/1.1 99 Low", "HTTP/1.1 099 Low", "HTTP/1.1 000 None", "HTTP/1.1 1000 High", "HTTP/1.1  200 OK",
            "HTTP/1.1 200OK", "HTTP/0.9 200 OK", "HTTP/1.2 200 OK", "HTTP/3 200 OK", "ICY 200 OK",
            "\u{0}HTTP/1.1 200 OK", " HTTP/1.1 200 OK",
        ].map { FramingRow($0 + "\r\nContent-Length: 5\r\n\r\nhello", malformed) } + [
            FramingRow("HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", malformed, urlSessionOnLinux: hello),
            FramingRow("http/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", malformed, urlSessionOnLinux: hello),
            FramingRow("HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", hello, urlSessionOnLinux: malformed),
            FramingRow("HTTP/1.1 600 High\r\nContent-Length: 5\r\n\r\nhello", .answer(600, "hello")),
            FramingRow("HTTP/1.1 999 High\r\nContent-Length: 5\r\n\r\nhello", .answer(999, "hello")),
        ]

    @Test(
        "H07: a malformed status line fails with malformedResponse; 200 to 999 are valid statuses",
        arguments: NetworkTransport.allCases,
        statusLines
    )
    func statusLine(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    static let switches = ["", "Upgrade: websocket\r\nConnection: upgrade\r\n"].map {
        FramingRow("HTTP/1.1 101 Switching\r\n\($0)\r\nhello", malformed)
    }

    @Test("H12: an unrequested 101 fails with malformedResponse", arguments: NetworkTransport.allCases, switches)
    func unaskedSwitch(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    @Test("H14: a connection closed before any byte fails with connectionLost", arguments: NetworkTransport.allCases)
    func emptyReply(transport: NetworkTransport) async throws {
        let row = FramingRow("", .failure(.connectionLost), closes: true)
        try await FramingBench.check(row, on: transport)
    }

    static let chunkLines =
        ["5;a=b\r\nhello\r\n0;c\r\n\r\n", "5;a=\"b;c\"\r\nhello\r\n0\r\n\r\n"].map {
            FramingRow(chunked + $0, hello)
        }
        + ["fffffffffffffffff", "-5", "0x5", "g", ""].map {
            FramingRow(chunked + $0 + "\r\nhello\r\n0\r\n\r\n", malformed)
        } + [
            FramingRow(chunked + "5\r\nhellox\r\n0\r\n\r\n", malformed),
            FramingRow(
                chunked + "ffffffffffffffff\r\nhello",
                truncated,
                closes: true,
                urlSessionOnLinux: malformed
            ),
            FramingRow(chunked + "5\nhello\n0\n\n", malformed, urlSessionOnLinux: hello),
        ]

    @Test(
        "chunk extensions are ignored, and a malformed chunk fails with malformedResponse",
        arguments: NetworkTransport.allCases,
        chunkLines
    )
    func chunkLine(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    static let lineEnds = [
        "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\n0\n\n",
    ].map { FramingRow($0, malformed) }

    @Test("lines that end in a bare LF fail with malformedResponse", arguments: NetworkTransport.allCases, lineEnds)
    func lineEnd(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    @Test("a body without a length or chunks ends with its connection", arguments: NetworkTransport.allCases)
    func untilClose(transport: NetworkTransport) async throws {
        try await FramingBench.check(FramingRow(Self.head + "\r\nhello", Self.hello, closes: true), on: transport)
    }

    @Test("a 100 Continue before the response is ignored", arguments: NetworkTransport.allCases)
    func continued(transport: NetworkTransport) async throws {
        let text = "HTTP/1.1 100 Continue\r\n\r\n\(Self.head)Content-Length: 5\r\n\r\nhello"
        try await FramingBench.check(FramingRow(text, Self.hello), on: transport)
    }

    @Test(
        "a response that arrives before its request is delivered, or the call fails with connectionLost",
        arguments: NetworkTransport.allCases
    )
    func early(transport: NetworkTransport) async throws {
        let early = Self.head + "Content-Length: 5\r\nConnection: close\r\n\r\nhello"
        let server = try LoopbackServer(greeting: [.send(early)]) { _ in [.close] }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        do {
            let response = try await provider.request(Probe(server, method: .post))
            #expect(response.data == Data("hello".utf8))
        } catch let error as PipelineError {
            #expect(error.code == .connectionLost)
        }
        try await server.wait { $0.openConnectionCount == 0 }
    }
}
