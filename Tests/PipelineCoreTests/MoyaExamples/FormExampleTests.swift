import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The uploads from Moya's page on targets", .realTime, .watched)
struct FormExampleTests {
    /// An upload of a picture with a description, in its plain and its composite form.
    enum Pictures: TargetType {
        case uploadGif(Data, description: String)
        case uploadTagged(Data, tag: String)

        var baseURL: URL { Endpoint.url("https://api.myservice.com") }
        var path: String { "/gifs/upload" }
        var method: HTTPMethod { .post }
        var headers: [String: String]? { ["Content-type": "application/json"] }
        var task: RequestTask {
            switch self {
            case .uploadGif(let data, let description):
                let gif = MultipartFormBodyPart(.bytes(data), name: "file", fileName: "gif.gif", mimeType: "image/gif")
                let text = MultipartFormBodyPart(.bytes(Data(description.utf8)), name: "description")
                return .uploadMultipartFormData(MultipartFormData(boundary: "B", parts: [gif, text]))
            case .uploadTagged(let data, let tag):
                let gif = MultipartFormBodyPart(.bytes(data), name: "file", fileName: "gif.gif")
                let form = MultipartFormData(boundary: "B", parts: [gif])
                return .uploadCompositeMultipartFormData(form, urlParameters: ["tag": tag])
            }
        }
    }

    @Test("M60 M62 A form sends its parts, and its Content-Type replaces the target's")
    func form() async throws {
        let body = """
            --B\r
            Content-Disposition: form-data; name="file"; filename="gif.gif"\r
            Content-Type: image/gif\r
            \r
            GIF89a\r
            --B\r
            Content-Disposition: form-data; name="description"\r
            \r
            a cat\r
            --B--\r

            """
        try await expectRequest(
            of: Pictures.uploadGif(Data("GIF89a".utf8), description: "a cat"),
            ExampleRequest(
                "POST https://api.myservice.com/gifs/upload",
                ["Content-Type: multipart/form-data; boundary=B"],
                body: body
            )
        )
    }

    @Test("M26 A composite form sends its parts and a query")
    func composite() async throws {
        let body = """
            --B\r
            Content-Disposition: form-data; name="file"; filename="gif.gif"\r
            Content-Type: image/gif\r
            \r
            GIF89a\r
            --B--\r

            """
        try await expectRequest(
            of: Pictures.uploadTagged(Data("GIF89a".utf8), tag: "a cat"),
            ExampleRequest(
                "POST https://api.myservice.com/gifs/upload?tag=a%20cat",
                ["Content-Type: multipart/form-data; boundary=B"],
                body: body
            )
        )
    }

    @Test("M70 An endpoint closure may add parts to the target's form, and they are sent with its query")
    func endpointClosure() async throws {
        let added = [MultipartFormBodyPart(.bytes(Data("1".utf8)), name: "added")]
        let body = """
            --B\r
            Content-Disposition: form-data; name="file"; filename="gif.gif"\r
            Content-Type: image/gif\r
            \r
            GIF89a\r
            --B\r
            Content-Disposition: form-data; name="added"\r
            \r
            1\r
            --B--\r

            """
        try await expectRequest(
            of: Pictures.uploadTagged(Data("GIF89a".utf8), tag: "a cat"),
            ExampleRequest(
                "POST https://api.myservice.com/gifs/upload?tag=a%20cat",
                ["Content-Type: multipart/form-data; boundary=B"],
                body: body
            ),
            endpoint: { target in
                let endpoint = Endpoint(target)
                return endpoint.replacing(task: endpoint.task.adding(parts: added))
            }
        )
    }

    @Test("Adding parts to a task without a form has no effect")
    func noForm() throws {
        let task = RequestTask.requestPlain.adding(parts: [MultipartFormBodyPart(.bytes(Data()), name: "added")])
        #expect(try Endpoint(url: "https://example.com", method: .post, task: task).makeRequest().body.isAbsent)
    }
}
