import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("MultipartReader: field values", .watched)
struct FieldValueTests {
    @Test(
        "The boundary comes from the Content-Type, as a token or a quoted string",
        arguments: [
            ("multipart/form-data; boundary=abc", "abc"), ("Multipart/Form-Data;BOUNDARY=\"a b\"", "a b"),
            ("multipart/form-data; charset=utf-8; boundary=\"x:y\"", "x:y"),
        ]
    )
    func contentType(_ text: String, _ boundary: String) throws {
        let body = Data("--\(boundary)\r\n\(MultipartScannerTests.disposition)\r\n\r\n\r\n--\(boundary)--\r\n".utf8)
        #expect(try MultipartReader.parts(of: body, contentType: text).map(\.name) == ["a"])
    }

    @Test(
        "A Content-Type without exactly one valid boundary is rejected, with the offset",
        arguments: [
            ("", 0), ("multipart/mixed; boundary=a", 0), ("multipart/form-data", 19),
            ("multipart/form-data; boundary=", 30),
            ("multipart/form-data; boundary=\"\"", 31), ("multipart/form-data; boundary=a; boundary=b", 33),
            ("multipart/form-data; boundary=\"a;b\"", 32), ("multipart/form-data; boundary=\"ab \"", 33),
            ("multipart/form-data; boundary=a b", 32), ("multipart/form-data; boundary=a;", 32),
        ]
    )
    func badContentType(_ text: String, _ offset: Int) throws {
        let failure = #expect(throws: MultipartReader.Failure.self) {
            try MultipartReader.parts(of: Data(), contentType: text)
        }
        #expect(failure?.offset == offset)
    }
}
