import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import Testing

@Suite("MultipartReader")
struct MultipartReaderTests {
    private static let disposition = "Content-Disposition: form-data; name=\"a\""

    private static func body(_ head: String, _ content: String = "x") -> String {
        "--B\r\n\(head)\r\n\r\n\(content)\r\n--B--\r\n"
    }

    private func parts(_ text: String) throws -> [MultipartReader.Part] {
        try MultipartReader(boundary: "B").parts(of: Data(text.utf8))
    }

    @Test("Parts have their fields, names and bytes, in order")
    func reads() throws {
        let text =
            "--B\r\ncontent-type:  text/plain; charset=utf-8 \r\nX-Other: \r\n"
            + "CONTENT-DISPOSITION: Form-Data ; NAME=\"é%22\\\";filename=\"\"\r\n\r\n\r\n--\r\n--b\r\n--\0"
            + "\r\n--B\r\nContent-Disposition: form-data;filename=f;other=1;name=n\r\n\r\n"
            + "\r\n--B--\r\n"
        let parts = try parts(text)
        #expect(parts.map(\.name) == ["é%22\\", "n"])
        #expect(parts.map(\.fileName) == ["", "f"])
        #expect(parts.map(\.mimeType) == ["text/plain; charset=utf-8", nil])
        #expect(parts.map(\.content) == [Data("\r\n--\r\n--b\r\n--\0".utf8), Data()])
        #expect(
            parts[0].headerLines == [
                "content-type:  text/plain; charset=utf-8 ", "X-Other: ",
                "CONTENT-DISPOSITION: Form-Data ; NAME=\"é%22\\\";filename=\"\"",
            ]
        )
        #expect(parts[1].headerLines.count == 1)
    }

    @Test("A slice of a larger body is read as what it is")
    func slice() throws {
        let data = Data(("0123" + Self.body(Self.disposition, "\u{ff}")).utf8).dropFirst(4)
        #expect(try MultipartReader(boundary: "B").parts(of: data).map(\.content) == [Data("\u{ff}".utf8)])
    }

    static let malformed: [(body: String, offset: Int, reason: String)] = [
        ("", 0, "does not begin"),
        ("\r\n--B\r\n", 0, "does not begin"),
        ("preamble\r\n--B\r\n", 0, "does not begin"),
        ("--B", 3, "neither a part nor the end"),
        ("--Bx\r\n", 3, "neither a part nor the end"),
        ("--B \r\n", 3, "neither a part nor the end"),
        ("--B\n", 3, "neither a part nor the end"),
        ("--B--\r\n", 5, "no parts"),
        ("--B\r\n", 5, "no end"),
        ("--B\r\n\r\nx\r\n--B--\r\n", 5, "without Content-Disposition"),
        ("--B\r\nContent-Type: a/b\r\n\r\nx\r\n--B--\r\n", 5, "without Content-Disposition"),
        (body("Content-Disposition: attachment; name=\"a\""), 5, "without Content-Disposition"),
        (body("Content-Disposition: form-data"), 5, "without a name"),
        (body("Content-Disposition: form-data; filename=\"a\""), 5, "without a name"),
        (body("Content-Disposition: form-data; name=\"a"), 42, "without its end"),
        (body("Content-Disposition: form-data; name="), 42, "empty value"),
        (body("Content-Disposition: form-data; name"), 37, "without a value"),
        (body("Content-Disposition: form-data; "), 36, "missing"),
        (body("Content-Disposition: form-data name=\"a\""), 36, "without a semicolon"),
        (body("Content-Disposition: form-data; name=\"a\"b"), 45, "without a semicolon"),
        (body("Content-Disposition: form-data; name=\"a\"; Name=b"), 47, "second parameter"),
        (body("Content-Disposition: "), 26, "missing"),
        (body(disposition + "; filename*=UTF-8''a"), 57, "filename*"),
        (body(disposition + "\r\n" + disposition), 47, "second Content-Disposition"),
        (body(disposition + "\r\nContent-Type: a\r\nContent-type: b"), 64, "second Content-Type"),
        (body(disposition + "\r\nContent-Type: "), 61, "empty Content-Type"),
        (body(disposition + "\r\n folded"), 47, "no field"),
        (body(disposition + "\r\nX Y: 1"), 48, "no field"),
        (body(disposition + "\r\nX"), 48, "no field"),
        (body(disposition + "\r\n: 1"), 47, "no field"),
        (body(disposition + "\r\nX: \0"), 50, "control"),
        (body(disposition + "\r\nX: \n"), 50, "control"),
        (body(disposition + "\r\nX: \u{7f}"), 50, "control"),
        (body(disposition + "\r\nX: 1\rY: 2"), 51, "no end"),
        ("--B\r\n\(disposition)\r\n\r\n--B--\r\n", 49, "where the content begins"),
        ("--B\r\n\(disposition)\r\n\r\nx\r\n--C--\r\n", 59, "without a boundary"),
        ("--B\r\n\(disposition)\r\n\r\nx\n--B--\r\n", 58, "without a boundary"),
        ("--B\r\n\(disposition)\r\n\r\n", 49, "without a boundary"),
        (body(disposition, "x\r\n--By"), 55, "neither a part nor the end"),
        ("--B\r\n\(disposition)\r\n\r\nx\r\n--B--", 57, "line's end"),
        (body(disposition) + "\r\n", 59, "line's end"),
        (body(disposition) + "epilogue", 59, "line's end"),
    ]

    @Test("What is malformed is refused, with the offset of the byte at fault", arguments: malformed.indices)
    func refuses(_ index: Int) throws {
        let (body, offset, reason) = Self.malformed[index]
        let failure = #expect(throws: MultipartReader.Failure.self) { try parts(body) }
        #expect(failure?.offset == offset, "\(body.debugDescription): \(String(describing: failure))")
        #expect(failure?.reason.contains(reason) == true, "\(String(describing: failure))")
        #expect(failure?.description.hasSuffix("at offset \(offset)") == true)
    }

    @Test("Broken UTF-8 in a field is refused, in content it is not")
    func encoding() throws {
        let reader = try MultipartReader(boundary: "B")
        let broken = Data([0xc3, 0x28])
        let head = Data("--B\r\n\(Self.disposition)".utf8)
        let end = Data("\r\n--B--\r\n".utf8)
        let failure = #expect(throws: MultipartReader.Failure.self) {
            try reader.parts(of: head + Data("; x=\"".utf8) + broken + Data("\"\r\n\r\n".utf8) + end)
        }
        #expect(failure?.offset == 5)
        #expect(try reader.parts(of: head + Data("\r\n\r\n".utf8) + broken + end).map(\.content) == [broken])
    }

    @Test(
        "The boundary comes from the Content-Type, as a token or in quotation marks",
        arguments: [
            ("multipart/form-data; boundary=abc", "abc"), ("Multipart/Form-Data;BOUNDARY=\"a b\"", "a b"),
            ("multipart/form-data; charset=utf-8; boundary=\"x:y\"", "x:y"),
        ]
    )
    func contentType(_ text: String, _ boundary: String) throws {
        #expect(try MultipartReader(contentType: text).boundary == boundary)
    }

    @Test(
        "A Content-Type without one fit boundary is refused, with the offset",
        arguments: [
            ("", 0), ("multipart/mixed; boundary=a", 0), ("multipart/form-data", 19),
            ("multipart/form-data; boundary=", 30),
            ("multipart/form-data; boundary=\"\"", 31), ("multipart/form-data; boundary=a; boundary=b", 33),
            ("multipart/form-data; boundary=\"a;b\"", 32), ("multipart/form-data; boundary=\"ab \"", 33),
            ("multipart/form-data; boundary=a b", 32), ("multipart/form-data; boundary=a;", 32),
        ]
    )
    func badContentType(_ text: String, _ offset: Int) throws {
        let failure = #expect(throws: MultipartReader.Failure.self) { try MultipartReader(contentType: text) }
        #expect(failure?.offset == offset)
    }

    @Test(
        "A boundary that may not be one is refused",
        arguments: [("", 0), (" ", 0), ("a ", 1), ("a\"", 1), ("ab\r", 2), (String(repeating: "x", count: 71), 0)]
    )
    func badBoundary(_ boundary: String, _ offset: Int) throws {
        let failure = #expect(throws: MultipartReader.Failure.self) { try MultipartReader(boundary: boundary) }
        #expect(failure?.offset == offset)
        #expect(try MultipartReader(boundary: String(repeating: "x", count: 70)).boundary.count == 70)
    }

    @Test("A request's body is read by its own Content-Type, up to a limit")
    func request() async throws {
        var request = try PipelineRequest(.post, url: "https://example.com/")
        request.body = .bytes(Data(Self.body(Self.disposition).utf8))
        await #expect(throws: MultipartReader.Failure.self) { try await MultipartReader.parts(of: request) }
        request.headers[.contentType] = "multipart/form-data; boundary=B"
        #expect(try await MultipartReader.parts(of: request).map(\.name) == ["a"])
        let error = await #expect(throws: PipelineError.self) {
            try await MultipartReader.parts(of: request, upTo: 10)
        }
        #expect(error?.code == .limit(.bodyBytes))
        request.headers.append(HTTPField(name: .contentType, value: "multipart/form-data; boundary=C"))
        await #expect(throws: MultipartReader.Failure.self) { try await MultipartReader.parts(of: request) }
    }

    @Test("No bytes make it stop the program, and nothing is read in them that they do not say")
    func anyBytes() throws {
        let reader = try MultipartReader(boundary: "B")
        let whole = Data((Self.body(Self.disposition + "; filename=\"f\"\r\nContent-Type: a/b", "x\r\n")).utf8)
        var random = PipelineRandom.seeded(46)
        for count in 0..<whole.count {
            #expect(throws: MultipartReader.Failure.self) { try reader.parts(of: whole.prefix(count)) }
        }
        for _ in 0..<5_000 {
            var bytes = Array(whole)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            do {
                let parts = try reader.parts(of: Data(bytes))
                #expect(parts.count == 1)
            } catch let failure as MultipartReader.Failure {
                #expect((0...bytes.count).contains(failure.offset))
            }
        }
    }
}
