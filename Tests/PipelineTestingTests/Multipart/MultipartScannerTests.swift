import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("MultipartReader: parts", .watched)
struct MultipartScannerTests {
    static let disposition = "Content-Disposition: form-data; name=\"a\""

    static func body(_ head: String, _ content: String = "x") -> String {
        "--B\r\n\(head)\r\n\r\n\(content)\r\n--B--\r\n"
    }

    static func parts(_ body: Data) throws -> [MultipartReader.Part] {
        try MultipartReader.parts(of: body, contentType: "multipart/form-data; boundary=B")
    }

    @Test("A slice of a larger body is read correctly")
    func slice() throws {
        let data = Data(("0123" + Self.body(Self.disposition, "\u{ff}")).utf8).dropFirst(4)
        #expect(try Self.parts(data).map(\.content) == [Data("\u{ff}".utf8)])
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
        (body(disposition + "\r\n folded"), 47, "not a header field"),
        (body(disposition + "\r\nX Y: 1"), 48, "not a header field"),
        (body(disposition + "\r\nX"), 48, "not a header field"),
        (body(disposition + "\r\n: 1"), 47, "not a header field"),
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

    @Test("A malformed body is rejected, with the offset of the faulty byte", arguments: malformed.indices)
    func refuses(_ index: Int) throws {
        let (body, offset, reason) = Self.malformed[index]
        let failure = #expect(throws: MultipartReader.Failure.self) { try Self.parts(Data(body.utf8)) }
        #expect(failure?.offset == offset, "\(body.debugDescription): \(String(describing: failure))")
        #expect(failure?.reason.contains(reason) == true, "\(String(describing: failure))")
        #expect(failure?.description.hasSuffix("at offset \(offset)") == true)
    }

    @Test("Invalid UTF-8 is rejected in a field, but not in content")
    func encoding() throws {
        let broken = Data([0xc3, 0x28])
        let head = Data("--B\r\n\(Self.disposition)".utf8)
        let end = Data("\r\n--B--\r\n".utf8)
        let failure = #expect(throws: MultipartReader.Failure.self) {
            try Self.parts(head + Data("; x=\"".utf8) + broken + Data("\"\r\n\r\n".utf8) + end)
        }
        #expect(failure?.offset == 5)
        #expect(try Self.parts(head + Data("\r\n\r\n".utf8) + broken + end).map(\.content) == [broken])
    }
}
