import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Splitting a stream into lines", .watched)
struct LineSplitterTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let text: String
        /// LF, CRLF and CR end a line.
        let any: [String]
        /// Only LF ends a line.
        let lineFeed: [String]

        var testDescription: String { text.debugDescription }

        init(_ text: String, _ any: [String], lineFeed: [String]? = nil) {
            (self.text, self.any, self.lineFeed) = (text, any, lineFeed ?? any)
        }
    }

    static let rows: [Row] = [
        Row("", []),
        Row("a", ["a"]),
        Row("a\n", ["a"]),
        Row("\n", [""]),
        Row("a\nb", ["a", "b"]),
        Row("a\n\nb\n", ["a", "", "b"]),
        Row("a\r\nb\r\n", ["a", "b"], lineFeed: ["a\r", "b\r"]),
        Row("a\rb", ["a", "b"], lineFeed: ["a\rb"]),
        Row("a\r\rb", ["a", "", "b"], lineFeed: ["a\r\rb"]),
        Row("a\r\n\nb", ["a", "", "b"], lineFeed: ["a\r", "", "b"]),
        Row("a\n\rb", ["a", "", "b"], lineFeed: ["a", "\rb"]),
        Row("\r\n\r\n", ["", ""], lineFeed: ["\r", "\r"]),
        Row("a\r", ["a"], lineFeed: ["a\r"]),
        Row("\u{feff}a\n\u{feff}b", ["a", "\u{feff}b"]),
        Row("\u{feff}", [""]),
        Row("\u{feff}\u{feff}a", ["\u{feff}a"]),
        Row("a\u{b}\u{c}\u{85}\u{2028}b", ["a\u{b}\u{c}\u{85}\u{2028}b"]),
    ]

    @Test("Lines end at the line endings of the format, whether bytes arrive at once or one by one", arguments: rows)
    func table(_ row: Row) {
        for pieces in [[Data(row.text.utf8)], Data(row.text.utf8).singly] {
            #expect(Self.lines(.any, pieces) == row.any)
            #expect(Self.lines(.lineFeed, pieces) == row.lineFeed)
        }
    }

    private static func lines(_ ends: LineSplitter.Ends, _ pieces: [Data]) -> [String] {
        var splitter = LineSplitter(ends, maximumByteCount: 100)
        var lines: [String] = []
        for piece in pieces {
            splitter.append(piece)
            while let line = try? splitter.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        }
        splitter.end()
        while let line = try? splitter.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test("A CR ends its line before the next byte arrives")
    func carriageReturn() throws {
        var splitter = LineSplitter(.any, maximumByteCount: 10)
        splitter.append(Data("a\r".utf8))
        #expect(try splitter.next() == [97])
        splitter.append(Data("\n".utf8))
        #expect(try splitter.next() == nil)
        splitter.append(Data("b\n".utf8))
        #expect(try splitter.next() == [98])
    }

    @Test("Pieces added before earlier lines are taken keep their order")
    func severalPieces() throws {
        var splitter = LineSplitter(.any, maximumByteCount: 10)
        for text in ["a\nb\nc", "d\ne", "\n"] { splitter.append(Data(text.utf8)) }
        #expect(try (0..<5).map { _ in try splitter.next() } == [[97], [98], [99, 100], [101], nil])
    }

    @Test("A line may have the maximum byte count; a longer one fails with limit.lineBytes and ends the lines")
    func limit() {
        let short = "aa\n1234567890\n"
        for pieces in [[Data((short + "12345678901\nz\n").utf8)], Data((short + "12345678901\nz\n").utf8).singly] {
            let decoded = Decoded(LineDecoder(maximumByteCount: 10), pieces)
            #expect(decoded.elements == ["aa", "1234567890"])
            #expect(decoded.failure == "limit.lineBytes a line is longer than the 10 bytes allowed")
        }
        let endless = Decoded(LineDecoder(maximumByteCount: 10), [Data("12345678901".utf8)])
        #expect(endless.failure != nil)
        var splitter = LineSplitter(.any, maximumByteCount: 3)
        splitter.append(Data("1234\nab\n".utf8))
        #expect(throws: PipelineError.self) { try splitter.next() }
        splitter.append(Data("cd\n".utf8))
        #expect((try? splitter.next()) == .some(nil))
    }
}
