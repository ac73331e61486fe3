import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Faults: mutated responses", .tags(.concurrent), .realTime, .watched)
struct MutatedAnswerTests {
    private static let answers = [
        "\(FramingBench.head)Content-Length: 12\r\nContent-Type: text/plain\r\n\r\nhello, world",
        "HTTP/1.1 100 Continue\r\n\r\n\(FramingBench.head)Transfer-Encoding: chunked\r\n\r\n"
            + "5;a=b\r\nhello\r\n7\r\n, world\r\n0\r\nX-Trailer: a\r\nX-Empty:\r\n\r\n",
        "HTTP/1.1 204 None\r\nX-Secret: \(FramingBench.canary)\r\n\r\n",
        "HTTP/1.0 200 OK\r\nX-Secret: \(FramingBench.canary)\r\n\r\nhello, world",
    ]

    /// Bytes that are significant to a parser.
    private static let telling = Data("\r\n :;,\u{0}\t0919afHTTP/".utf8) + [0x7f, 0x80, 0xff]

    private static func mutate(_ answer: Data, with random: inout PipelineRandom) -> Data {
        var bytes = answer
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[index] = telling.randomElement(using: &random) ?? 0
            case 2: bytes.insert(telling.randomElement(using: &random) ?? 0, at: index)
            case 3: bytes.removeSubrange(index..<min(index + Int.random(in: 1...8, using: &random), bytes.count))
            default: bytes = Data(bytes.prefix(index))
            }
        }
        return bytes
    }

    @Test("300 mutations of valid responses each end in a response or a typed error, and the next call works")
    func mutations() async throws {
        var random = PipelineRandom.seeded(0x5eed)
        let transport = AsyncHTTPClientTransport()
        let codes: Set<PipelineError.Code> = [
            .malformedResponse, .truncated, .connectionLost, .limit(.informational), .limit(.headerBytes),
            .limit(.bodyBytes),
        ]
        for number in 0..<300 {
            let base = Data(Self.answers[number % Self.answers.count].utf8)
            let bytes = Self.mutate(base, with: &random)
            let bench = try FramingBench(transport, [.send(bytes), .close])
            var target = Probe(bench.server, "/fault", method: .post)
            target.options.attemptTimeout = .seconds(120)
            do {
                let response = try await bench.provider.request(target)
                #expect((200...999).contains(response.statusCode), "\(number)")
            } catch let error as PipelineError {
                #expect(codes.contains(error.code), "\(number): \(error.code)")
                FramingBench.checkSecrets(of: error)
            }
            try await bench.server.wait { $0.openConnectionCount == 0 }
            try await bench.checkLaterCall()
            bench.server.stop()
        }
        try await transport.shutdown()
    }
}
