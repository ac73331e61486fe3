import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Cost of reading a stream", .watched)
struct StreamWorkTests {
    /// A stream of any size.
    struct Shape: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Whether all pieces are added before the first is read.
        var isHeldBack = false
        let pieces: @Sendable (_ byteCount: Int) -> [Data]
    }

    private static func repeated(_ text: String, _ byteCount: Int) -> Data {
        Data(String(repeating: text, count: byteCount / text.utf8.count).utf8)
    }

    static let shapes: [Shape] = [
        Shape(testDescription: "one line in one piece") {
            [Data("data: ".utf8) + repeated("x", $0) + Data("\n\n".utf8)]
        },
        Shape(testDescription: "one line, byte by byte") { (Data("data: ".utf8) + repeated("x", $0)).singly },
        Shape(testDescription: "one line without a field, byte by byte") { repeated("x", $0).singly },
        Shape(testDescription: "many lines of data in one event") { [repeated("data: 12345\n", $0)] },
        Shape(testDescription: "many empty lines of data in one event") { [repeated("data\n", $0)] },
        Shape(testDescription: "many fields, byte by byte") {
            repeated("data: 1\nid: 2\nevent: 3\nretry: 4\nx: 5\n", $0).singly
        },
        Shape(testDescription: "many events") { [repeated("data: 1\n\n", $0)] },
        Shape(testDescription: "lines that end with CR, and no LF") { [repeated("data: 1\r", $0)] },
        Shape(testDescription: "lines that end with CR, and one LF") { [repeated("data: 1\r", $0) + Data("\n".utf8)] },
        Shape(testDescription: "lines that end with LF, and one CR") { [repeated("data: 1\n", $0) + Data("\r".utf8)] },
        Shape(testDescription: "lines that end with CRLF") { [repeated("data: 1\r\n", $0)] },
        Shape(testDescription: "pieces that are added before the first is read", isHeldBack: true) {
            repeated("data: 1\n\n", $0).singly
        },
    ]

    private static func stepCount(_ shape: Shape, _ byteCount: Int) throws -> Int {
        var parser = ServerSentEvent.Parser()
        for piece in shape.pieces(byteCount) {
            parser.append(piece)
            while !shape.isHeldBack, try parser.next() != nil {}
        }
        while try parser.next() != nil {}
        return parser.stepCount
    }

    @Test("S01 The parser's work grows linearly with the bytes, with a small constant factor", arguments: shapes)
    func linear(_ shape: Shape) throws {
        let single = try Self.stepCount(shape, 35_000)
        let double = try Self.stepCount(shape, 70_000)
        #expect(single >= 35_000)
        #expect(Double(double) <= 2.5 * Double(single))
        #expect(double <= 10 * 70_000)
    }
}
