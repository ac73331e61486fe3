import Foundation
import Testing

@testable import Pipeline

@Suite("MultipartFormBodyPart")
struct MultipartFormBodyPartTests {
    private static let pdf = URL(filePath: "/nowhere/Größe.tar.PDF")

    /// The header fields of a part as lines.
    private func lines(_ part: MultipartFormBodyPart) throws -> [String] {
        let head = String(decoding: try part.head(position: 1), as: UTF8.self)
        #expect(head.hasSuffix("\r\n\r\n"))
        return head.components(separatedBy: "\r\n").dropLast(2)
    }

    private static func disposition(_ fileName: String? = nil) -> String {
        "Content-Disposition: form-data; name=\"n\"" + (fileName.map { "; filename=\"\($0)\"" } ?? "")
    }

    @Test("M63 M64 M66 B-M34 The file name and the media type are given or not, each for itself", arguments: [0, 1, 2])
    func independentNames(_ kind: Int) throws {
        let bodies: [PipelineBody] = [
            .bytes(Data()), .file(Self.pdf), .stream(byteCount: 1) { AsyncStream<Data> { nil } },
        ]
        let body = bodies[kind]
        let ownName = kind == 1 ? "Größe.tar.PDF" : nil
        let neither = try lines(MultipartFormBodyPart(body, name: "n"))
        #expect(neither == [Self.disposition(ownName)] + (kind == 1 ? ["Content-Type: application/pdf"] : []))
        let named = try lines(MultipartFormBodyPart(body, name: "n", fileName: "a.txt"))
        #expect(named == [Self.disposition("a.txt"), "Content-Type: text/plain"])
        let typed = try lines(MultipartFormBodyPart(body, name: "n", mimeType: "a/b; c=\"d\""))
        #expect(typed == [Self.disposition(ownName), "Content-Type: a/b; c=\"d\""])
        let both = try lines(MultipartFormBodyPart(body, name: "n", fileName: "a.txt", mimeType: "a/b"))
        #expect(both == [Self.disposition("a.txt"), "Content-Type: a/b"])
    }

    @Test("A file whose name is taken away is a plain field")
    func removedFileName() throws {
        var part = MultipartFormBodyPart(.file(Self.pdf), name: "n")
        #expect(part.fileName == "Größe.tar.PDF")
        part.fileName = nil
        #expect(try lines(part) == [Self.disposition()])
    }

    @Test(
        "B-A5 The extension gives the media type, on every platform",
        arguments: [
            ("a.jpg", "image/jpeg"), ("a.JPEG", "image/jpeg"), ("a.png", "image/png"), ("a.tar.gz", "application/gzip"),
            ("a.json", "application/json"), ("a.mp4", "video/mp4"), (".csv", "text/csv"), ("a.html", "text/html"),
            ("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
            ("a.unknown", "application/octet-stream"), ("a", "application/octet-stream"),
            ("", "application/octet-stream"),
            ("a.", "application/octet-stream"), ("jpg", "application/octet-stream"),
            ("a.jpg/b", "application/octet-stream"),
        ]
    )
    func mediaType(_ fileName: String, _ type: String) throws {
        let part = MultipartFormBodyPart(.none, name: "n", fileName: fileName)
        #expect(try lines(part) == [Self.disposition(fileName), "Content-Type: \(type)"])
    }

    @Test(
        "F10 B-M35 What could end a name or a line is escaped, everything else is sent as it is",
        arguments: [
            ("a\"b", "a%22b"), ("a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"), ("\r", "%0D"), ("\n", "%0A"),
            ("a\u{0}b", "a%00b"),
            ("\u{1b}\u{7f}\u{b}\u{1f}\u{8}", "%1B%7F%0B%1F%08"), ("a\tb", "a\tb"), ("a\\b\\", "a\\b\\"),
            ("a;b='%22'", "a;b='%22'"),
            ("é漢👍\u{85}\u{2028}", "é漢👍\u{85}\u{2028}"), (" a ", " a "), ("", ""), ("../../x", "../../x"),
        ]
    )
    func escaping(_ text: String, _ escaped: String) throws {
        let part = MultipartFormBodyPart(.none, name: text, fileName: text, mimeType: "a/b")
        let head = String(decoding: try part.head(position: 1), as: UTF8.self)
        let disposition = "Content-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"
        #expect(head.utf8.elementsEqual((disposition + "Content-Type: a/b\r\n\r\n").utf8))
    }

    @Test("A media type is a literal, a name or a text")
    func mediaTypes() throws {
        let type = "image/jpeg"
        let types: [MIMEType] = ["image/jpeg", .jpeg, MIMEType(type)]
        #expect(Set(types).count == 1)
        for mimeType in types {
            let part = MultipartFormBodyPart(.none, name: "n", mimeType: mimeType)
            #expect(try lines(part).contains("Content-Type: image/jpeg"))
        }
        #expect(MIMEType.svg.description == "image/svg+xml" && "\(MIMEType.octetStream)" == "application/octet-stream")
    }

    @Test(
        "A media type that could end its line, or is empty, is a typed error that names the part",
        arguments: ["", " ", " a/b", "a/b ", "a\r\nX: 1", "a\n", "a\u{0}", "a\t", "\u{7f}", "é/a"]
    )
    func invalidMediaType(_ type: String) throws {
        let part = MultipartFormBodyPart(.none, name: "n", mimeType: MIMEType(type))
        let error = #expect(throws: PipelineError.self) {
            try MultipartFormData(parts: [.field("x"), part]).makeBody()
        }
        #expect(error?.code == .invalidRequest(.headerValue))
        #expect(error?.reason.contains("part 2, \"n\"") == true)
    }
}
