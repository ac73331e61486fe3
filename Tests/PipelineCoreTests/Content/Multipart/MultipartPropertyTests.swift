import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Multipart round trips", .watched)
struct MultipartPropertyTests {
    private static let seed: UInt64 = 0x7578_2046

    /// Content in which the characters of a boundary are frequent.
    private static func content(_ random: inout PipelineRandom) -> Data {
        let pieces = [
            "\r\n", "--", "\r", "\n", "B", "--B", "\r\n--", "--\r\n", "\u{0}", "é", "Content-Type: a/b\r\n\r\n",
        ]
        var data = Data()
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            if Bool.random(using: &random) {
                data += Data((pieces.randomElement(using: &random) ?? "").utf8)
            } else {
                data += Data(
                    (0..<Int.random(in: 0...5, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
                )
            }
        }
        return data
    }

    /// The same bytes in pieces of random size, some of them empty.
    private static func split(_ data: Data, _ random: inout PipelineRandom) -> [Data] {
        var pieces: [Data] = []
        var rest = data
        while !rest.isEmpty || Int.random(in: 0...2, using: &random) == 0 {
            let piece = rest.prefix(Int.random(in: 0...4, using: &random))
            pieces.append(Data(piece))
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }

    private static func body(of content: Data, _ random: inout PipelineRandom) -> PipelineBody {
        let pieces = split(content, &random)
        func makeChunks() -> AsyncStream<Data> {
            AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }
        }
        switch Int.random(in: 0...5, using: &random) {
        case 0: return .stream(makeChunks())
        case 1: return .stream(makeChunks(), byteCount: content.count)
        case 2:
            return .stream(byteCount: content.count) {
                AsyncStream { continuation in
                    for piece in pieces { continuation.yield(piece) }
                    continuation.finish()
                }
            }
        default: return content.isEmpty ? .absent : .bytes(content)
        }
    }

    /// The escaped form of a name, implemented independently of the writer.
    private static func escaped(_ name: String) -> [UInt8] {
        name.utf8.flatMap { byte in
            byte == 34 || (byte < 32 && byte != 9) || byte == 127
                ? Array(String(format: "%%%02X", Int(byte)).utf8) : [byte]
        }
    }

    @Test("parse(write(x)) = x for 10,000 forms of any names, contents and chunks", arguments: 0..<10)
    func roundTrip(_ round: Int) async throws {
        var random = PipelineRandom.seeded(Self.seed &+ UInt64(round))
        for index in 0..<1_000 {
            var contents: [Data] = []
            var parts: [MultipartFormBodyPart] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let content = Self.content(&random)
                let name = random.makeString(upTo: 6)
                let fileName = Bool.random(using: &random) ? random.makeString(upTo: 6) : nil
                let type = Bool.random(using: &random) ? "a/b" : nil
                contents.append(content)
                parts.append(
                    MultipartFormBodyPart(
                        Self.body(of: content, &random),
                        name: name,
                        fileName: fileName,
                        mimeType: type.map { MIMEType($0) }
                    )
                )
            }
            let made = try MultipartFormData(parts: parts).makeBody(using: &random)
            let data = try await made.body.collect(upTo: 1 << 20)
            let read = try MultipartReader.parts(of: data, contentType: made.contentType)
            let isSame =
                read.map(\.content) == contents
                && read.map { Array($0.name.utf8) } == parts.map { Self.escaped($0.name) }
                && read.map { $0.fileName.map { Array($0.utf8) } } == parts.map { $0.fileName.map(Self.escaped) }
                && zip(read, parts).allSatisfy {
                    $0.mimeType == $1.mimeType?.description ?? $1.fileName.map(FileMediaTypes.type)
                }
                && (made.body.byteCount ?? data.count) == data.count
            #expect(isSame, "seed \(Self.seed &+ UInt64(round)), form \(index)")
        }
    }
}
