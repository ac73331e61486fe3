import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("MultipartFormBodyPart", .watched)
struct MultipartFormBodyPartTests {
    private static let pdf = URL(filePath: "/nowhere/Größe.tar.PDF")

    /// The header fields of a part as lines.
    static func lines(_ part: MultipartFormBodyPart) throws -> [String] {
        let head = String(decoding: try part.head(position: 1), as: UTF8.self)
        #expect(head.hasSuffix("\r\n\r\n"))
        return head.components(separatedBy: "\r\n").dropLast(2)
    }

    static func disposition(_ fileName: String? = nil) -> String {
        "Content-Disposition: form-data; name=\"n\"" + (fileName.map { "; filename=\"\($0)\"" } ?? "")
    }

    @Test("M63 M64 M66 B-M34 The file name and the media type may be set independently", arguments: [0, 1, 2])
    func independentNames(_ kind: Int) throws {
        let bodies: [PipelineBody] = [
            .bytes(Data()), .file(Self.pdf), .stream(byteCount: 1) { AsyncStream<Data> { nil } },
        ]
        let body = bodies[kind]
        let ownName = kind == 1 ? "Größe.tar.PDF" : nil
        let neither = try Self.lines(MultipartFormBodyPart(body, name: "n"))
        #expect(neither == [Self.disposition(ownName)] + (kind == 1 ? ["Content-Type: application/pdf"] : []))
        let named = try Self.lines(MultipartFormBodyPart(body, name: "n", fileName: "a.txt"))
        #expect(named == [Self.disposition("a.txt"), "Content-Type: text/plain"])
        let typed = try Self.lines(MultipartFormBodyPart(body, name: "n", mimeType: "a/b; c=\"d\""))
        #expect(typed == [Self.disposition(ownName), "Content-Type: a/b; c=\"d\""])
        let both = try Self.lines(MultipartFormBodyPart(body, name: "n", fileName: "a.txt", mimeType: "a/b"))
        #expect(both == [Self.disposition("a.txt"), "Content-Type: a/b"])
    }

    @Test("A file part without a file name is a plain field")
    func removedFileName() throws {
        var part = MultipartFormBodyPart(.file(Self.pdf), name: "n")
        #expect(part.fileName == "Größe.tar.PDF")
        part.fileName = nil
        #expect(try Self.lines(part) == [Self.disposition()])
    }
}
