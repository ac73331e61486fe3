import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Streams split at any byte", .watched)
struct StreamCutTests {
    private static let tokens: [[UInt8]] =
        [
            "\n", "\r", "\r\n", "\n\n", "\r\n\r\n", "data", "data:", "data: ", "event: ", "id: ", "retry: ", ":", " ",
            "a",
            "12", "\u{0}", "é", "👍", "\u{feff}", "{\"id\":1}", "[1]", "7", "null",
        ].map { Array($0.utf8) } + [[0xff], [0xef], [0xbb], [0xbf], [0xf0, 0x9f]]

    private static func makeStream(_ random: inout PipelineRandom) -> Data {
        Data((0..<Int.random(in: 0...60, using: &random)).flatMap { _ in tokens.randomElement(using: &random) ?? [] })
    }

    @Test(
        "However a stream is split, it yields the same values, error, event ID and reconnection time",
        arguments: 0..<40 as Range<UInt64>
    )
    func cuts(_ seed: UInt64) {
        var random = PipelineRandom.seeded(seed)
        for _ in 0..<50 {
            let stream = Self.makeStream(&random)
            let limit = [8, 40, 1_000].randomElement(using: &random) ?? 8
            for pieces in [stream.singly, stream.cut(using: &random)] {
                let events = ServerSentEvent.Parser(maximumByteCount: limit)
                #expect(Decoded(events, pieces) == Decoded(events, [stream]), "seed \(seed)")
                let lines = LineDecoder(maximumByteCount: limit)
                #expect(Decoded(lines, pieces) == Decoded(lines, [stream]), "seed \(seed)")
                let values = LineDecoder<Int>(decoder: JSONDecoder(), maximumByteCount: limit)
                #expect(Decoded(values, pieces) == Decoded(values, [stream]), "seed \(seed)")
                #expect(Self.ends(events, pieces) == Self.ends(events, [stream]), "seed \(seed)")
            }
        }
    }

    @Test(
        "Each sample of the standard yields the same events when split in two anywhere",
        arguments: ServerSentEventParserTests.standard
    )
    func halves(_ row: ServerSentEventParserTests.Row) {
        for index in 0...row.stream.count {
            let pieces = [Data(row.stream.prefix(index)), Data(row.stream.dropFirst(index))]
            #expect(Decoded(ServerSentEvent.Parser(), pieces).elements == row.events, "cut at \(index)")
        }
    }

    /// The last event ID and the reconnection time of a parser at the end of its stream.
    private static func ends(_ parser: ServerSentEvent.Parser, _ pieces: [Data]) -> [String] {
        var parser = parser
        for piece in pieces {
            parser.append(piece)
            while let event = try? parser.next() { _ = event }
        }
        return [parser.lastEventID, "\(String(describing: parser.reconnectionTime))"]
    }
}
