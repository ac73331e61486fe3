import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Suggested file names", .watched)
struct SuggestedFileNameTests {
    static func name(_ disposition: String?, path: String = "/v1/items") throws -> String {
        var headers = HTTPFields()
        headers[.contentDisposition] = disposition
        let request = try PipelineRequest(url: "https://example.com\(path)")
        return SuggestedFileName.make(for: PipelineResponse(request: request, statusCode: 200, headers: headers))
    }

    @Test(
        "The name comes from Content-Disposition, and the extended form takes precedence",
        arguments: [
            ("attachment; filename=report.pdf", "report.pdf"),
            ("attachment; filename=\"my report.pdf\"", "my report.pdf"),
            ("attachment;filename=\"a;b.txt\"; size=3", "a;b.txt"),
            ("ATTACHMENT ; FileName = \"a.txt\"", "a.txt"),
            (#"attachment; filename="a\"b.txt""#, "a_b.txt"),
            ("attachment; filename=\"old.txt\"; filename*=UTF-8''n%C3%A4h.txt", "näh.txt"),
            ("attachment; filename*=iso-8859-1'en'%A3%20rates.txt; filename=x", "£ rates.txt"),
            ("attachment; filename*=koi8-r''%E4; filename=plain.txt", "plain.txt"),
            ("attachment; filename*=UTF-8''%FF; filename=plain.txt", "plain.txt"),
            ("attachment; filename*=iso-8859-1''%A; filename=plain.txt", "plain.txt"),
            ("attachment; filename*=nonsense; filename=plain.txt", "plain.txt"),
            ("attachment; filename=a.txt; filename=b.txt", "a.txt"),
            ("attachment; filename=", "items"), ("attachment", "items"), ("", "items"), (";;;=;filename", "items"),
            ("attachment; filename=\"unterminated", "unterminated"),
        ]
    )
    func disposition(_ text: String, _ expected: String) throws {
        #expect(try Self.name(text) == expected)
    }

    @Test(
        "F07 A name never leaves its directory, is not hidden, and is valid on every system",
        arguments: [
            (String(repeating: ".", count: 60_000) + "a", "a"), ("a" + String(repeating: " .", count: 30_000), "a"),
            ("../../x", "x"), ("/etc/passwd", "passwd"), (#"..\x"#, "x"), (#"C:\dir\x.txt"#, "x.txt"), ("a/", nil),
            (".", nil),
            ("..", nil), ("...", nil), ("", nil), ("   ", nil), (".bashrc", "bashrc"), ("~root", "root"),
            ("a\u{0}b", "ab"),
            ("a\r\nb", "ab"), ("a\u{2028}b\u{2029}c", "abc"), ("CON .txt", "_CON .txt"), ("CON", "_CON"),
            ("con.txt", "_con.txt"), ("COM1.tar.gz", "_COM1.tar.gz"),
            ("LPT¹", "_LPT¹"),
            ("CONSOLE", "CONSOLE"), ("a\u{202e}gpj.exe", "agpj.exe"), ("a\u{200b}b\u{feff}", "ab"),
            ("a<b>:c|d?e*f\"g", "a_b__c_d_e_f_g"),
            ("name. . ", "name"), ("a..b", "a..b"), ("ünïcode 日本.txt", "ünïcode 日本.txt"),
            ("e\u{301}.txt", "e\u{301}.txt"),
        ]
    )
    func safe(_ given: String, _ expected: String?) {
        #expect(SuggestedFileName.safe(given) == expected)
    }

    @Test("F07 A name of 300 characters is cut to 200 bytes and keeps its extension", arguments: ["x", "日", "👩‍👩‍👧"])
    func long(_ character: String) throws {
        let name = try #require(SuggestedFileName.safe(String(repeating: character, count: 300) + ".jpeg"))
        #expect(name.utf8.count <= 200)
        #expect(name.utf8.count > 190)
        #expect(name.hasSuffix(".jpeg"))
        let plain = try #require(SuggestedFileName.safe("a." + String(repeating: character, count: 300)))
        #expect(plain.utf8.count <= 200)
    }

    @Test(
        "Without Content-Disposition, the name is the last path segment of the URL, made safe",
        arguments: [
            ("/a/b.txt?c=d/e", "b.txt"), ("/", "download"), ("/a/", "a"), ("/%2e%2e%2fx", "x"),
            ("/..%2F..", "download"),
            ("/a%00b", "ab"), ("/%ff", "%ff"),
        ]
    )
    func path(_ path: String, _ expected: String) throws {
        #expect(try Self.name(nil, path: path) == expected)
    }

    @Test("F07 No Content-Disposition places a file outside the directory")
    func anything() async throws {
        var random = PipelineRandom.seeded(3)
        let pieces = [
            "..", "/", "\\", "%2f", "a", ".", "\0", "\"", ";", "filename*=UTF-8''", "%2e%2e%2f", " ", "~", "CON", "é",
        ]
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            let name = try Self.name("attachment; filename=\"" + text.joined() + "\"")
            #expect(!name.isEmpty && name != "." && name != ".." && !name.hasPrefix("."))
            #expect(!name.unicodeScalars.contains { $0 == "/" || $0 == "\\" || $0.value < 32 })
        }
    }

    @Test("A download with a suggested name is placed in the directory")
    func download() async throws {
        let folder = try TemporaryFolder()
        let headers: HTTPFields = [.contentDisposition: "attachment; filename=\"../../evil.sh\""]
        let transport = ScriptedTransport(always: .status(200, headers: headers, body: "x"))
        let target = TestTarget(task: .downloadDestination(.suggestedName(in: folder.url)))
        let response = try await Provider<TestTarget>(transport: transport).request(target)
        #expect(response.body.fileURL?.deletingLastPathComponent().path == folder.url.path)
        #expect(folder.names == ["evil.sh"])
        let error = await pipelineError { _ = try await Provider<TestTarget>(transport: transport).request(target) }
        #expect(error?.code == .file(.exists))
    }
}

@Suite("Content-Range", .watched)
struct HeaderValueTests {
    @Test(
        "An invalid Content-Range is ignored",
        arguments: [
            ("bytes 0-9/10", true), ("BYTES 0-9/*", true), ("bytes 0-9/9", false), ("bytes 5-4/10", false),
            ("bytes */10", false),
            ("bytes 0-9", false), ("bytes 0-9/10/10", false), ("bytes -9/10", false), ("bytes +0-9/10", false),
            ("bytes 0-99999999999999999999/*", false), ("bytes  0-9/10", false), ("", false),
        ]
    )
    func contentRange(_ text: String, _ isOne: Bool) {
        #expect((ContentRange(text) != nil) == isOne)
    }
}
