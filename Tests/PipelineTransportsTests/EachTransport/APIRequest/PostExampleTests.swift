import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Examples of APIRequest: posts", .realTime, .watched)
struct PostExampleTests {
    /// The first boundary of a provider with the seed 7.
    private static let boundary = "pipeline-63cbe1e459320dd7044c3cd7f43c661c"
    /// Bytes that are not text, with a line break and hyphens as in a delimiter.
    private static let jpeg = Data([0xff, 0xd8, 0x00, 0x0d, 0x0a, 0x2d, 0x2d, 0xff, 0xd9])
    private static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    private static let seven = Post(id: 7, text: "Hi", at: Date(timeIntervalSince1970: 1_000_000_000))

    private func video(_ byteCount: Int) -> Data {
        Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) })
    }

    /// The body as RFC 7578 and the HTML standard write it.
    private func body(video: Data?) -> Data {
        let delimiter = "\r\n--\(Self.boundary)"
        let field = "\r\nContent-Disposition: form-data; name="
        var body = Data("--\(Self.boundary)".utf8)
        func append(_ text: String, _ data: Data = Data()) { body += Data(text.utf8) + data }
        append("\(field)\"text\"\r\n\r\nZoë's \"cat\" & dog\r\n")
        append("\(delimiter)\(field)\"isPublic\"\r\n\r\n1")
        append("\(delimiter)\(field)\"at\"\r\n\r\n2001-09-09T01:46:40Z")
        append("\(delimiter)\(field)\"images[]\"; filename=\"cat.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n", Self.jpeg)
        append(
            "\(delimiter)\(field)\"images[]\"; filename=\"the %22dög%22\"\r\nContent-Type: image/png\r\n\r\n",
            Self.png
        )
        if let video {
            append("\(delimiter)\(field)\"video\"; filename=\"clip.mp4\"\r\nContent-Type: video/mp4\r\n\r\n", video)
        }
        append("\(delimiter)--\r\n")
        return body
    }

    @Test(
        "C62 C65 C66 B-C15 A post sends a form of fields, images and a video file, byte for byte",
        arguments: NetworkTransport.allCases,
        [nil, 9, 3 << 20]
    )
    func create(transport: NetworkTransport, videoByteCount: Int?) async throws {
        let bench = try ExampleBench(transport, ["POST /v1/post": [.respond(201, body: ExampleBench.post)]])
        let folder = try ExampleFolder()
        let video = videoByteCount.map { self.video($0) }
        let post = NewPost(
            text: "Zoë's \"cat\" & dog\r\n",
            at: Date(timeIntervalSince1970: 1_000_000_000),
            images: [
                FormFile(Self.jpeg, fileName: "cat.jpg"),
                FormFile(Self.png, fileName: "the \"dög\"", mimeType: "image/png"),
            ],
            video: try video.map { FormFile(contentsOf: try folder.file("clip.mp4", $0)) }
        )
        #expect(try await bench.api.send(PostController.create(post)) == Self.seven)
        let sent = try #require(bench.server.requests.first)
        let expected = body(video: video)
        #expect(bench.lines == ["POST /v1/post"])
        #expect(sent.values(of: "Content-Type") == ["multipart/form-data; boundary=\(Self.boundary)"])
        #expect(sent.values(of: "Content-Length") == ["\(expected.count)"])
        #expect(sent.values(of: "Transfer-Encoding") == [] && sent.values(of: "Authorization") == [])
        #expect(sent.body == expected, "\(String(decoding: sent.body.prefix(1_000), as: UTF8.self))")
    }

    @Test(
        "C3 C11 C67 A list request sends its query's members in order, escaped, without those that are nil",
        arguments: NetworkTransport.allCases,
        [
            (ListQuery(offset: 0, limit: 100), "GET /v1/post?offset=0&limit=100"),
            (
                ListQuery(offset: 20, limit: 10, search: "Zoë & co=1+1"),
                "GET /v1/post?offset=20&limit=10&search=Zo%C3%AB%20%26%20co%3D1%2B1"
            ),
        ]
    )
    func list(transport: NetworkTransport, query: (query: ListQuery, line: String)) async throws {
        let bench = try ExampleBench(transport, [query.line: [.respond(200, body: "[\(ExampleBench.post)]")]])
        #expect(try await bench.api.send(PostController.list(query.query)) == [Self.seven])
        #expect(bench.lines == [query.line])
        try expectNoBody(bench)
    }

    @Test("C6 A post is requested by its number, which is part of the path", arguments: NetworkTransport.allCases)
    func get(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(transport, ["GET /v1/post/7": [.respond(200, body: ExampleBench.post)]])
        #expect(try await bench.api.send(PostController.get(id: 7)) == Self.seven)
        #expect(try await bench.failure(PostController.get(id: 8))?.message == "Post not found")
        #expect(bench.lines == ["GET /v1/post/7", "GET /v1/post/8"])
        try expectNoBody(bench)
    }

    @Test("C61 An edit is a PATCH with a form that keeps its members' order", arguments: NetworkTransport.allCases)
    func edit(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(transport, ["PATCH /v1/post/7": [.respond(200, body: ExampleBench.post)]])
        let edit = PostEdit(text: "Zoë & co", tags: ["b", "a=1"], at: Date(timeIntervalSince1970: 1_000_000_000))
        #expect(try await bench.api.send(PostController.edit(id: 7, edit)) == Self.seven)
        let sent = try #require(bench.server.requests.first)
        let form =
            "text=Zo%C3%AB%20%26%20co&tags%5B%5D=b&tags%5B%5D=a%3D1&isPublic=0&at=2001-09-09T01%3A46%3A40Z"
        #expect(bench.lines == ["PATCH /v1/post/7"])
        #expect(sent.body == Data(form.utf8), "\(sent.text)")
        #expect(sent.values(of: "Content-Type") == ["application/x-www-form-urlencoded; charset=utf-8"])
        #expect(sent.values(of: "Content-Length") == ["\(form.utf8.count)"])
    }

    @Test(
        "C15 C41 A deletion with a 204 response succeeds without a body",
        arguments: NetworkTransport.allCases
    )
    func delete(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(
            transport,
            ["DELETE /v1/post/7": [.respond(204)], "DELETE /v1/post/8": [.respond(200, body: "{}")]]
        )
        #expect(try await bench.api.send(PostController.delete(id: 7)) == IgnoredBody())
        let error = try await bench.failure(PostController.delete(id: 8))
        #expect(error?.code == .unacceptableStatus && error?.response?.statusCode == 200)
        #expect(bench.lines == ["DELETE /v1/post/7", "DELETE /v1/post/8"])
        try expectNoBody(bench)
    }

    private func expectNoBody(_ bench: ExampleBench, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for sent in bench.server.requests {
            let fields = ["Content-Type", "Transfer-Encoding", "Authorization"]
            #expect(fields.filter { sent.values(of: $0) != [] } == [], sourceLocation: sourceLocation)
            // Some transports send a Content-Length of 0 without a body.
            #expect(sent.values(of: "Content-Length").allSatisfy { $0 == "0" }, sourceLocation: sourceLocation)
            #expect(sent.body.isEmpty, sourceLocation: sourceLocation)
        }
    }
}
