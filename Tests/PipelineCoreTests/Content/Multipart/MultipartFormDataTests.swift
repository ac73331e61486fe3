import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("MultipartFormData", .watched)
struct MultipartFormDataTests {
    @Test("M58 M60 A form has its parts in order, each after a boundary, and a closing boundary")
    func wireForm() async throws {
        let form = MultipartFormData(
            boundary: "B",
            parts: [
                .field("a", "one"),
                MultipartFormBodyPart(.bytes(Data("two".utf8)), name: "f", fileName: "x.txt", mimeType: "text/x"),
                .field("a"),
                MultipartFormBodyPart(.absent, name: "none"),
            ]
        )
        let expected =
            "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none"
            + "\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/x\r\n\r\ntwo"
            + "\r\n--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
            + "\r\n--B\r\nContent-Disposition: form-data; name=\"none\"\r\n\r\n"
            + "\r\n--B--\r\n"
        #expect(try await form.wire() == expected)
        let made = try form.makeBody()
        #expect(made.body.bytes == Data(expected.utf8))
        #expect(made.contentType == "multipart/form-data; boundary=B")
    }

    @Test("M58 A form may be an array literal of parts, and parts can be appended")
    func literal() throws {
        var form: MultipartFormData = [.field("a")]
        form.parts.append(.field("b"))
        #expect(form.parts.map(\.name) == ["a", "b"])
        #expect(form.boundary == nil)
        let text = try #require(try form.makeBody().body.bytes.map { String(decoding: $0, as: UTF8.self) })
        #expect(text.contains("name=\"b\""))
    }

    @Test("M65 M69 A form without parts fails with a typed error")
    func noParts() throws {
        for form in [[], MultipartFormData(boundary: "b", parts: [])] {
            let error = #expect(throws: PipelineError.self) { try form.makeBody() }
            #expect(error?.code == .encoding)
        }
    }

    @Test("M62 Content-Type has the boundary and replaces all existing Content-Type fields")
    func contentType() throws {
        var request = try PipelineRequest(.post, url: "https://example.com/")
        request.headers.append(HTTPField(name: .contentType, value: "text/plain"))
        request.headers.append(HTTPField(name: .contentType, value: "multipart/form-data; boundary=other"))
        request.headers[.accept] = "*/*"
        let form = MultipartFormData(boundary: "b", parts: [.field("1")])
        try RequestTask.uploadMultipartFormData(form).encode(into: &request, context: .init())
        #expect(request.headers[values: .contentType] == ["multipart/form-data; boundary=b"])
        #expect(request.headers.count == 2)
    }
}
