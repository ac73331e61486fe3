import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: multipart forms", .besideHTTPBin, .realTime, .watched)
struct MultipartTests {
    private let provider = Provider<Anything>()

    private func echo(_ form: MultipartFormData, _ method: HTTPRequest.Method = .post) async throws -> Echo {
        try await provider.request(Anything(method: method, task: .uploadMultipartFormData(form)), as: Echo.self)
    }

    private func withFile<Value>(
        _ data: Data,
        _ name: String,
        _ work: (URL) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        try data.write(to: file)
        return try await work(file)
    }

    @Test(
        "binary files arrive byte for byte, from memory and from disk",
        arguments: [HTTPRequest.Method.post, .put, .patch]
    )
    func files(method: HTTPRequest.Method) async throws {
        let echo = try await withFile(binarySample, "b.bin") { url in
            let form = MultipartFormData(parts: [
                MultipartFormBodyPart(
                    .bytes(binarySample),
                    name: "memory",
                    fileName: "a.bin",
                    mimeType: "application/octet-stream"
                ),
                MultipartFormBodyPart(.file(url), name: "disk"),
                MultipartFormBodyPart(.bytes(Data("Zoë & co".utf8)), name: "title"),
            ])
            return try await self.echo(form, method)
        }
        #expect(Set(echo.files.keys) == ["memory", "disk"])
        for name in ["memory", "disk"] {
            #expect(bytes(ofDataURL: echo.files[name]?.texts.first ?? "") == binarySample)
            #expect(echo.files[name]?.texts.first?.hasPrefix("data:application/octet-stream;") == true)
        }
        #expect(echo.form == ["title": "Zoë & co"])
        #expect(echo.data.isEmpty)
        #expect(echo.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
    }

    @Test("a file's media type comes from its name or from the part", arguments: [(nil, "image/png"), ("x/y", "x/y")])
    func mediaTypes(given: String?, seen: String) async throws {
        let echo = try await withFile(binarySample, "pig.png") {
            try await self.echo([MultipartFormBodyPart(.file($0), name: "file", mimeType: given.map { MIMEType($0) })])
        }
        #expect(echo.files["file"]?.texts.first?.hasPrefix("data:\(seen);base64,") == true)
    }

    @Test("all fields with one name arrive, in order")
    func repeatedFields() async throws {
        let form = MultipartFormData(
            parts: ["b", "a", ""].map { MultipartFormBodyPart(.bytes(Data($0.utf8)), name: "list") }
        )
        #expect(try await echo(form).form == ["list": ["b", "a", ""]])
    }

    // As in browsers, a quotation mark and a line break are percent-encoded, and a backslash is sent unchanged.
    // Werkzeug decodes the first, leaves the second, and treats the last as an escape.
    @Test(
        "names arrive unchanged, except for characters that a form cannot hold",
        arguments: [
            ("plain", "plain"), ("Zoë 東京", "Zoë 東京"), ("a b", "a b"), ("a[b]", "a[b]"), ("semi;colon", "semi;colon"),
            ("apostrophe'", "apostrophe'"), ("per%cent", "per%cent"), ("quote\"", "quote\""), ("a\r\nb", "a%0D%0Ab"),
            ("back\\slash", "backslash"),
        ]
    )
    func names(given: String, seen: String) async throws {
        let form: MultipartFormData = [
            MultipartFormBodyPart(.bytes(Data("1".utf8)), name: given),
            MultipartFormBodyPart(.bytes(binarySample), name: "file " + given, fileName: given + ".bin"),
        ]
        let echo = try await echo(form)
        #expect(echo.form == [seen: "1"])
        #expect(bytes(ofDataURL: echo.files["file " + seen]?.texts.first ?? "") == binarySample)
    }

    @Test("content that looks like a form part arrives as content")
    func lookalike() async throws {
        let text = "\r\n--boundary\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nevil\r\n--boundary--\r\n"
        let form = MultipartFormData(
            boundary: "b0undary.of-its.own",
            parts: [
                MultipartFormBodyPart(.bytes(Data(text.utf8)), name: "text"),
                MultipartFormBodyPart(.bytes(Data()), name: "empty"),
                MultipartFormBodyPart(.bytes(Data()), name: "emptyFile", fileName: "e.bin"),
            ]
        )
        let echo = try await echo(form)
        #expect(echo.form == ["text": [text], "empty": ""])
        #expect(echo.files == ["emptyFile": ""])
    }

    @Test("a form with a file of three mebibytes and a stream arrives in full")
    func large() async throws {
        let large = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) })
        let stream = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: binarySample.count, by: 64) {
                continuation.yield(binarySample[start..<start + 64])
            }
            continuation.finish()
        }
        let echo = try await withFile(large, "large.bin") { url in
            try await self.echo([
                MultipartFormBodyPart(.file(url), name: "large"),
                MultipartFormBodyPart(.stream(stream), name: "stream", fileName: "s.bin"),
                MultipartFormBodyPart(.bytes(Data("last".utf8)), name: "last"),
            ])
        }
        #expect(bytes(ofDataURL: echo.files["large"]?.texts.first ?? "") == large)
        #expect(bytes(ofDataURL: echo.files["stream"]?.texts.first ?? "") == binarySample)
        #expect(echo.form == ["last": "last"])
    }

    @Test("a form can have a query")
    func composite() async throws {
        let form: MultipartFormData = [
            MultipartFormBodyPart(.bytes(binarySample), name: "file", fileName: "a.bin"),
            MultipartFormBodyPart(.bytes(Data("1".utf8)), name: "field"),
        ]
        let task = RequestTask.uploadCompositeMultipartFormData(form, urlParameters: ["album": "Zoë & co", "page": 2])
        let echo = try await provider.request(Anything(method: .post, task: task), as: Echo.self)
        #expect(echo.args == ["album": "Zoë & co", "page": "2"])
        #expect(echo.form == ["field": "1"])
        #expect(bytes(ofDataURL: echo.files["file"]?.texts.first ?? "") == binarySample)
    }

    @Test("a form is resent after a redirect that keeps the method")
    func redirected() async throws {
        let form: MultipartFormData = [MultipartFormBodyPart(.bytes(binarySample), name: "file", fileName: "a.bin")]
        let provider = Provider<RedirectTo>()
        let target = RedirectTo("/anything", code: 307, method: .post, task: .uploadMultipartFormData(form))
        let echo = try await provider.request(target, as: Echo.self)
        #expect(bytes(ofDataURL: echo.files["file"]?.texts.first ?? "") == binarySample)
    }
}
