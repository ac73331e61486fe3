import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Faults: header fields", .realTime, .watched)
struct HeaderFaultTests {
    private static let head = FramingBench.head
    private static let hello = FramingOutcome.answer(200, "hello")
    private static let malformed = FramingOutcome.failure(.malformedResponse)

    private static func row(_ line: String, _ expected: FramingOutcome, onLinux: FramingOutcome? = nil) -> FramingRow {
        FramingRow("\(head)\(line)\r\nContent-Length: 5\r\n\r\nhello", expected, urlSessionOnLinux: onLinux)
    }

    static let lines =
        [
            "no colon \(FramingBench.canary)", "X-A : 1", "X A: 1", "X(A): 1", "X-\u{e9}: 1", ": 1", "X-A: a\u{0}b",
            "X-A\r\n : 1",
        ].map { row($0, malformed) }
        + [
            "X-A: a\r\n b", "X-A: a\r\n\tb", "X-A:\r\n b", "X-A: a\rb", "X-A: a\rX-B: b", "X-A: a\u{7f}b",
            "X-A: a\u{1}b",
        ].map { row($0, malformed, onLinux: hello) } + [
            row("X-A:", hello),
            FramingRow("HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 5\r\n\r\nhello", malformed),
        ]

    @Test(
        "H08: a malformed header line fails with malformedResponse; URLSession on Linux accepts folds and controls",
        arguments: NetworkTransport.allCases,
        lines
    )
    func line(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    #if canImport(FoundationNetworking)
    @Test(
        "H08: a fold or a control that URLSession on Linux accepts does not split a field in two",
        arguments: [("a\r\n b", "a b"), ("a\rX-B: b", "a X-B: b"), ("a\u{1}b", "a b")]
    )
    func folds(value: String, expected: String) async throws {
        let row = Self.row("X-A: \(value)", Self.hello)
        let bench = try FramingBench(NetworkTransport.urlSession.make(), row.actions)
        let response = try await bench.provider.request(Probe(bench.server, "/fault"))
        #expect(response.headers.map(\.name.rawName) == ["Content-Length", "X-A", "X-Secret"])
        #expect(response.headers[HTTPField.Name("X-A")!] == expected)
    }
    #endif

    static let sizes =
        [400_000, 70_000].map { row("X-A: \(String(repeating: "a", count: $0))", .failure(.limit(.headerBytes))) } + [
            row(
                (0..<40).map { "X-\($0): \(String(repeating: "a", count: 10_000))" }.joined(separator: "\r\n"),
                .failure(.limit(.headerBytes))
            ),
            row("X-A: \(String(repeating: "a", count: 60_000))", hello),
        ]

    @Test(
        "H09: header fields with more bytes than allowed fail with limit.headerBytes",
        arguments: NetworkTransport.allCases,
        sizes
    )
    func bytes(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    private static func fields(_ count: Int) -> String {
        (0..<count).map { "h\($0):" }.joined(separator: "\r\n")
    }

    static let counts = [
        row(fields(6_000), .failure(.limit(.headerCount))), row(fields(999), .failure(.limit(.headerCount))),
        row(fields(998), hello),
    ]

    @Test("H10: too many header fields fail with limit.headerCount", arguments: NetworkTransport.allCases, counts)
    func count(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    private static func hints(_ count: Int) -> String {
        let hint = "HTTP/1.1 103 Early Hints\r\nLink: <\(FramingBench.canary)>\r\n\r\n"
        return String(repeating: hint, count: count) + head + "Content-Length: 5\r\n\r\nhello"
    }

    static let hinted = [
        FramingRow(hints(2_000), .failure(.limit(.informational)), urlSessionOnLinux: hello),
        FramingRow(hints(101), .failure(.limit(.informational)), urlSessionOnLinux: hello),
        FramingRow(hints(100), hello),
    ]

    @Test(
        "H11: over 100 informational responses fail with limit.informational; URLSession on Linux ignores them",
        arguments: NetworkTransport.allCases,
        hinted
    )
    func informational(transport: NetworkTransport, row: FramingRow) async throws {
        try await FramingBench.check(row, on: transport)
    }

    @Test("H13: a field value in UTF-8 arrives unchanged", arguments: NetworkTransport.allCases)
    func unicode(transport: NetworkTransport) async throws {
        #expect(try await value(of: Data("caf\u{e9} \u{1f600}".utf8), on: transport) == "caf\u{e9} \u{1f600}")
    }

    static let otherBytes: [(Data, String)] = [
        (Data("caf".utf8) + [0xe9], "caf\u{fffd}"), (Data([0xff, 0xfe, 0xc3]), "\u{fffd}\u{fffd}\u{fffd}"),
    ]

    @Test(
        "H13: bytes of a field value that are not UTF-8 are replaced, or malformedResponse (URLSession on Linux)",
        arguments: NetworkTransport.allCases,
        otherBytes
    )
    func notUnicode(transport: NetworkTransport, row: (bytes: Data, text: String)) async throws {
        #if canImport(FoundationNetworking)
        guard transport != .urlSession else {
            let error = await #expect(throws: PipelineError.self) { try await self.value(of: row.bytes, on: transport) }
            #expect(error?.code == .malformedResponse)
            return
        }
        #endif
        #expect(try await value(of: row.bytes, on: transport) == row.text)
    }

    /// Returns a field value as it arrives, and checks that the next call works.
    private func value(of bytes: Data, on transport: NetworkTransport) async throws -> String? {
        let answer = Data("HTTP/1.1 200 OK\r\nX-A: ".utf8) + bytes + Data("\r\nContent-Length: 0\r\n\r\n".utf8)
        let bench = try FramingBench(transport.make(), [.send(answer)])
        do {
            let response = try await bench.provider.request(Probe(bench.server, "/fault"))
            try await bench.checkNextCall()
            return response.headers.first { $0.name.rawName == "X-A" }?.value
        } catch {
            try await bench.checkNextCall()
            throw error
        }
    }
}
