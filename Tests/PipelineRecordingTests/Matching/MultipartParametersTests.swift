import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("F18 Uploads in files of Charles and Chrome", .watched)
struct MultipartParametersTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    /// Writes an upload as a browser or a proxy does.
    private func write(postData: String, type: String? = "multipart/form-data; boundary=X") throws {
        let field = type.map { #"{"name":"Content-Type","value":"\#($0)"}"# } ?? ""
        try bench.write(
            """
            {"log":{"version":"1.2","entries":[{"request":{"method":"POST","url":"https://api.example/","headers":[\(field)],
            "postData":\(postData)},"response":{"status":201}}]}}
            """
        )
    }

    /// Sends an upload with these parts, which have heads and a boundary of their own.
    private func code(_ parts: [(name: String, file: String?, content: Data)]) async throws -> PipelineError.Code? {
        var body = Data()
        for part in parts {
            let file = part.file.map { "; filename=\"\($0)\"\r\nContent-Type: image/png" } ?? ""
            body += Data("--live\r\ncontent-disposition: form-data; name=\"\(part.name)\"\(file)\r\n\r\n".utf8)
            body += part.content + Data("\r\n".utf8)
        }
        body += Data("--live--\r\n".utf8)
        let provider = bench.provider(try ReplayTransport(bench.file)) { [body] request in
            request.headers[.contentType] = "multipart/form-data; boundary=live"
            request.body = .bytes(body)
        }
        return try await provider.failureCode(bench.target(method: .post))
    }

    private static let photo = ("photo", "a.png", Data([0x89, 0x0d, 0x0a, 0x22, 0x00]))
    private static let photoForm = """
        [{"name":"title","value":"A \\"b\\""},{"name":"password","value":"secret"},\
        {"name":"photo","fileName":"a.png","contentType":"image/png"}]
        """

    private func upload(
        title: String = "A \"b\"",
        photo: (String, String?, Data) = Self.photo
    ) -> [(name: String, file: String?, content: Data)] {
        [("title", nil, Data(title.utf8)), ("password", nil, Data("other".utf8)), photo]
    }

    @Test(
        "F18 An upload matches the parameters of its parts by name, and a file that was left out matches any",
        arguments: [
            (
                #"{"mimeType":"multipart/form-data; boundary=X","params":\#(photoForm)}"#,
                "multipart/form-data; boundary=X"
            ),
            (#"{"mimeType":"multipart/form-data","text":"","params":\#(photoForm)}"#, "multipart/form-data"),
            (#"{"mimeType":"multipart/form-data; boundary=X","params":\#(photoForm)}"#, nil),
            (#"{"mimeType":"multipart/form-data","params":\#(photoForm)}"#, nil),
        ]
    )
    func parameters(postData: String, type: String?) async throws {
        try write(postData: postData, type: type)
        #expect(try await code(upload()) == nil)
        #expect(try await code(upload().reversed()) == nil)
        #expect(try await code(upload(title: "B")) == .noMatch)
        #expect(try await code(upload(photo: ("image", "a.png", Self.photo.2))) == .noMatch)
        #expect(try await code(Array(upload().dropLast())) == .noMatch)
    }

    @Test("F18 An upload matches a text whose file parts are empty, but not one with another file")
    func text() async throws {
        func text(_ content: String) -> String {
            let head =
                #"--X\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png"#
            return #"{"mimeType":"multipart/form-data; boundary=X","text":"\#(head)\r\n\r\n\#(content)\r\n--X--\r\n"}"#
        }
        try write(postData: text(""))
        #expect(try await code([Self.photo]) == nil)
        #expect(try await code([("photo", nil, Data("x".utf8))]) == nil)
        #expect(try await code([("other", "a.png", Data("x".utf8))]) == .noMatch)
        try write(postData: text("recorded"))
        #expect(try await code([Self.photo]) == .noMatch)
        #expect(try await code([("photo", "a.png", Data())]) == .noMatch)
    }

    @Test("The mimeType of postData is the type of a body whose header fields name none")
    func mimeType() async throws {
        let cases = [
            ("application/json", #"{\"b\": 1, \"a\": 2}"#, #"{"a":2,"b":1.0}"#),
            ("application/x-www-form-urlencoded; charset=utf-8", "b=1&a=%32", "a=2&b=1"),
        ]
        for (type, recorded, live) in cases {
            try write(postData: #"{"mimeType":"\#(type)","text":"\#(recorded)"}"#, type: nil)
            let provider = bench.provider(try ReplayTransport(bench.file)) { request in
                request.headers[.contentType] = type
                request.body = .bytes(Data(live.utf8))
            }
            #expect(try await provider.failureCode(bench.target(method: .post)) == nil)
        }
    }
}
