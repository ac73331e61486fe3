import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("MultipartFormData: boundaries", .watched)
struct MultipartBoundaryTests {
    @Test("M61 The default boundary has 128 random bits, all from the generator")
    func randomBoundary() throws {
        var generator = ScriptedGenerator(0xfedc_ba98_7654_3210, 0xf)
        let form: MultipartFormData = [.field("a")]
        let made = try form.makeBody(using: &generator)
        let boundary = "pipeline-fedcba9876543210000000000000000f"
        #expect(made.contentType == "multipart/form-data; boundary=\(boundary)")
        #expect(made.body.bytes?.starts(with: Data("--\(boundary)\r\n".utf8)) == true)
        #expect(generator.callCount == 2)
    }

    @Test("F10 A random boundary is replaced until it occurs in no part")
    func collision() throws {
        let first = "pipeline-" + String(repeating: "0", count: 31) + "1"
        let second = "pipeline-" + String(repeating: "0", count: 31) + "2"
        var generator = ScriptedGenerator(0, 1, 0, 2, 0, 3)
        let form: MultipartFormData = [.field("a", "x\(second)"), .field("b", "--\(first)--"), .field("c", "c")]
        let made = try form.makeBody(using: &generator)
        #expect(made.contentType == "multipart/form-data; boundary=pipeline-\(String(repeating: "0", count: 31))3")
        #expect(generator.callCount == 6)
    }

    @Test("F10 A generator that repeats one number causes a typed error, not an endless loop")
    func endlessCollision() throws {
        var generator = ScriptedGenerator(0)
        let form: MultipartFormData = [.field("a", "pipeline-" + String(repeating: "0", count: 32))]
        let error = #expect(throws: PipelineError.self) { try form.makeBody(using: &generator) }
        #expect(error?.code == .encoding)
        #expect(generator.callCount == 200)
    }

    @Test(
        "M61 A given boundary is used unchanged, and quoted if it is not a token",
        arguments: [
            ("b", "b"), ("a'+_-.9Z", "a'+_-.9Z"), ("a b", "\"a b\""), (" a", "\" a\""), ("(a)", "\"(a)\""),
            ("a,b", "\"a,b\""),
            ("a/b", "\"a/b\""), ("a:b", "\"a:b\""), ("a=b", "\"a=b\""), ("a?b", "\"a?b\""),
            (String(repeating: "x", count: 70), String(repeating: "x", count: 70)),
        ]
    )
    func givenBoundary(_ boundary: String, _ parameter: String) async throws {
        let form = MultipartFormData(boundary: boundary, parts: [.field("1", "2")])
        #expect(try form.makeBody().contentType == "multipart/form-data; boundary=\(parameter)")
        let field = "Content-Disposition: form-data; name=\"1\"\r\n\r\n2"
        #expect(try await form.wire() == "--\(boundary)\r\n\(field)\r\n--\(boundary)--\r\n")
    }

    @Test(
        "An invalid boundary fails with a typed error",
        arguments: [
            "", "a ", " ", "a\r\nX: 1", "a\"b", "a;b", "a@b", "a[b", "é", "a\u{0}", String(repeating: "x", count: 71),
        ]
    )
    func invalidBoundary(_ boundary: String) throws {
        let form = MultipartFormData(boundary: boundary, parts: [.field("1", "2")])
        let error = #expect(throws: PipelineError.self) { try form.makeBody() }
        #expect(error?.code == .encoding)
    }

    @Test("F10 A given boundary that occurs in a part fails with an error that names the part, not its content")
    func givenBoundaryInPart() throws {
        let form = MultipartFormData(boundary: "cut", parts: [.field("1", "s3cr3t"), .field("pin", "s3cr3t cut")])
        let error = #expect(throws: PipelineError.self) { try form.makeBody() }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains("part 2, \"pin\"") == true)
        #expect(error?.reason.contains("s3cr3t") == false)
    }
}
