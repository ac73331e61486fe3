import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Payloads and dates of APIRequest", .watched)
struct PayloadTests {
    struct Signup: JSONPayload, Codable {
        var name = "Ann"
        var born = Date(timeIntervalSince1970: 1_000_000_000.25)
    }

    struct Form: FormURLEncodedPayload {
        var z = "a&b"
        var a = [1, 2]
        var none: Int?
        var ok = true
    }

    struct Post: MultipartPayload {
        var text: String
        var id: UUID?
        var at: Date?
        var raw: Data?
        var images: [FormFile] = []
        var video: FormFile?
        var tags: [String] = []
    }

    struct Own: JSONPayload, CustomDateEncodingStrategy {
        static let dateEncodingStrategy = DateCodingStrategy.formatted("yyyy-MM-dd")
        var born = Date(timeIntervalSince1970: 1_000_000_000)
    }

    struct Moment: Decodable, CustomDateDecodingStrategy, Equatable {
        static let dateDecodingStrategy = DateCodingStrategy.secondsSince1970
        var at: Date
    }

    private let bench = APIBench(ScriptedTransport(always: .ok))

    private func send(_ request: APIRequest<IgnoredBody>) async throws -> PipelineRequest {
        _ = try await bench.api.send(request.method(.post))
        return try #require(bench.transport.sent.last)
    }

    @Test("C60 B-C18 B-C19 A JSONPayload is sent as JSON, with a Content-Type if the request has none")
    func json() async throws {
        let sent = try await send(APIRequest("signup", payload: Signup()))
        #expect(bench.sentText == #"{"born":"2001-09-09T01:46:40Z","name":"Ann"}"#)
        #expect(sent.headers[values: .contentType] == ["application/json"])
        let own = APIRequest<IgnoredBody>("signup").payload(Signup()).addHeaders(["content-type": "application/x"])
        #expect(try await send(own).headers[values: .contentType] == ["application/x"])
    }

    @Test("B-C19 An array of JSON payloads is a payload with the date strategy of its elements")
    func array() async throws {
        _ = try await send(APIRequest("bulk", payload: [Own(), Own()]))
        #expect(bench.sentText == #"[{"born":"2001-09-09"},{"born":"2001-09-09"}]"#)
    }

    @Test("C61 B-C15 A FormURLEncodedPayload is an escaped form in member order, without nil values")
    func form() async throws {
        let sent = try await send(APIRequest("form", payload: Form()))
        #expect(bench.sentText == "z=a%26b&a%5B%5D=1&a%5B%5D=2&ok=1")
        #expect(sent.headers[.contentType] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test("C62 C65 C66 B-C15 A MultipartPayload has a part per member, in order; files have a name and type")
    func multipart() async throws {
        let folder = try TemporaryFolder()
        try Data("movie".utf8).write(to: folder.file("cat.mp4"))
        let id = UUID()
        let post = Post(
            text: "Hi & bye",
            id: id,
            at: Date(timeIntervalSince1970: 1_000_000_000),
            raw: Data([0, 255]),
            images: [
                FormFile(Data("1".utf8), fileName: "1.jpg"),
                FormFile(Data("2".utf8), fileName: "2", mimeType: "image/png"),
            ],
            video: FormFile(contentsOf: folder.file("cat.mp4")),
            tags: ["x", "y"]
        )
        let sent = try await send(APIRequest("post", payload: post))
        let parts = try MultipartFormData(encoding: post).parts
        #expect(parts.map(\.name) == ["text", "id", "at", "raw", "images[]", "images[]", "video", "tags[]", "tags[]"])
        #expect(parts.map(\.fileName) == [nil, nil, nil, nil, "1.jpg", "2", "cat.mp4", nil, nil])
        #expect(parts.map(\.mimeType) == [nil, nil, nil, nil, nil, "image/png", nil, nil, nil])
        #expect(
            parts.prefix(4).map(\.body.bytes) == [
                Data("Hi & bye".utf8), Data(id.uuidString.utf8), Data("2001-09-09T01:46:40Z".utf8), Data([0, 255]),
            ]
        )
        let bytes = try await sent.body.collect(upTo: 10_000)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(sent.headers[.contentType]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(
            text.contains("Content-Type: image/jpeg\r\n\r\n1\r\n")
                && text.contains("Content-Type: video/mp4\r\n\r\nmovie")
        )
    }

    @Test("Nested values and dictionaries are parts whose names have the inner keys in brackets")
    func nested() throws {
        struct Inner: Encodable, Sendable { var a = ["b": 1] }
        struct Outer: MultipartPayload { var inner = Inner() }
        #expect(try MultipartFormData(encoding: Outer()).parts.map(\.name) == ["inner[a][b]"])
    }

    @Test("B-C12 A form without parts or with a missing file is an error, and nothing is sent")
    func brokenForm() async throws {
        struct Empty: MultipartPayload { var none: Int? }
        let empty = await pipelineError { _ = try await send(APIRequest("x", payload: Empty())) }
        #expect(empty?.code == .encoding)
        let missing = Post(text: "t", video: FormFile(contentsOf: URL(filePath: "/nowhere/cat.mp4")))
        let error = await pipelineError { _ = try await send(APIRequest("x", payload: missing)) }
        #expect(error?.code == .file(.unreadable))
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("B-C13 The largest integers are written in full in queries, forms, parts and JSON")
    func largestNumbers() async throws {
        struct Form: FormURLEncodedPayload, MultipartPayload {
            var most = UInt64.max
            var least = Int64.min
            func makeTask(with coders: ProviderConfiguration.Coders) -> RequestTask {
                .requestFormURLEncodable(self, encoder: coders.formEncoder(for: self))
            }
        }
        let text = "most=18446744073709551615&least=-9223372036854775808"
        let request = APIRequest<IgnoredBody>("x", payload: Form()).query(Form())
        _ = try await send(request)
        #expect(bench.sentText == text && bench.paths == ["x?" + text])
        let parts = try MultipartFormData(encoding: Form()).parts.map {
            String(decoding: $0.body.bytes ?? Data(), as: UTF8.self)
        }
        #expect(parts == ["18446744073709551615", "-9223372036854775808"])
        _ = try await send(request.task(.requestJSONEncodable(Form())))
        #expect(bench.sentText.contains("18446744073709551615") && bench.sentText.contains("-9223372036854775808"))
    }

    @Test(
        "A multipart form and a stream need a method that carries a body",
        arguments: [HTTPRequest.Method.get, .head]
    )
    func bodilessMethod(method: HTTPRequest.Method) async throws {
        for request in [
            APIRequest<IgnoredBody>("x", payload: Post(text: "t")),
            APIRequest("x").task(.requestStream(.bytes(Data("t".utf8)))),
        ] {
            let error = await pipelineError { _ = try await bench.api.send(request.method(method)) }
            #expect(error?.code == .invalidRequest(.body))
        }
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("A custom payload makes its own task")
    func ownForm() async throws {
        struct Lines: APIPayload {
            func makeTask(with coders: ProviderConfiguration.Coders) -> RequestTask { .requestData(Data("a\nb".utf8)) }
        }
        #expect(try await send(APIRequest("x", payload: Lines())).body.bytes == Data("a\nb".utf8))
        let task = APIRequest<IgnoredBody>("x", payload: Lines()).task(.requestData(Data("c".utf8)))
        #expect(try await send(task).body.bytes == Data("c".utf8))
        #expect(try await send(task.payload(Lines())).body.bytes == Data("a\nb".utf8))
    }
}
