import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("MultipartFormBodyPart: heads", .watched)
struct MultipartFormBodyPartHeadTests {
    @Test(
        "F10 B-M35 Characters that could end a name or a line are escaped, and all others are unchanged",
        arguments: [
            ("a\"b", "a%22b"), ("a\r\nX-Evil: 1", "a%0D%0AX-Evil: 1"), ("\r", "%0D"), ("\n", "%0A"),
            ("a\u{0}b", "a%00b"),
            ("\u{1b}\u{7f}\u{b}\u{1f}\u{8}", "%1B%7F%0B%1F%08"), ("a\tb", "a\tb"), ("a\\b\\", "a\\b\\"),
            ("a;b='%22'", "a;b='%22'"),
            ("é漢👍\u{85}\u{2028}", "é漢👍\u{85}\u{2028}"), (" a ", " a "), ("", ""), ("../../x", "../../x"),
        ]
    )
    func escaping(_ text: String, _ escaped: String) throws {
        let part = MultipartFormBodyPart(.absent, name: text, fileName: text, mimeType: "a/b")
        let head = String(decoding: try part.head(position: 1), as: UTF8.self)
        let disposition = "Content-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"
        #expect(head.utf8.elementsEqual((disposition + "Content-Type: a/b\r\n\r\n").utf8))
    }

    @Test(
        "An invalid media type fails with a typed error that names the part",
        arguments: ["", " ", " a/b", "a/b ", "a\r\nX: 1", "a\n", "a\u{0}", "a\t", "\u{7f}", "é/a"]
    )
    func invalidMediaType(_ type: String) throws {
        let part = MultipartFormBodyPart(.absent, name: "n", mimeType: MIMEType(type))
        let error = #expect(throws: PipelineError.self) {
            try MultipartFormData(parts: [.field("x"), part]).makeBody()
        }
        #expect(error?.code == .invalidRequest(.headerValue))
        #expect(error?.reason.contains("part 2, \"n\"") == true)
    }
}
