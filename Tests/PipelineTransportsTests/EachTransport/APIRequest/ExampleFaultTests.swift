import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Examples of APIRequest: bad input", .realTime, .watched)
struct ExampleFaultTests {
    private struct Unwritable: Error {}

    private struct BrokenJSON: JSONPayload { var rating = Double.infinity }

    private struct BrokenForm: FormURLEncodedPayload {
        func encode(to encoder: any Encoder) throws { throw Unwritable() }
    }

    private struct BrokenFiles: MultipartPayload {
        func encode(to encoder: any Encoder) throws { throw Unwritable() }
    }

    /// Input that cannot be encoded.
    enum Broken: String, CaseIterable, CustomTestStringConvertible {
        case json, form, files, query

        var testDescription: String { rawValue }

        var request: APIRequest<IgnoredBody> {
            let request = APIRequest<IgnoredBody>("post").method(.post)
            return switch self {
            case .json: request.payload(BrokenJSON())
            case .form: request.payload(BrokenForm())
            case .files: request.payload(BrokenFiles())
            case .query: request.query(BrokenForm())
            }
        }
    }

    /// Checks that the next call through the same client works.
    private func expectNextCall(_ bench: ExampleBench, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let token = try await bench.api.send(AuthController.login(email: "ann@example.com", password: "secret")).token
        #expect(token == "t-1", sourceLocation: sourceLocation)
        #expect(bench.lines.last == "POST /v1/login", sourceLocation: sourceLocation)
    }

    @Test(
        "C63 B-C8 B-C12 An unencodable payload or query fails before anything is sent, and the next call works",
        arguments: NetworkTransport.allCases,
        Broken.allCases
    )
    func unencodable(transport: NetworkTransport, broken: Broken) async throws {
        let bench = try ExampleBench(transport, ["POST /v1/login": [.respond(200, body: ExampleBench.token)]])
        #expect(try await bench.failure(broken.request)?.code == .encoding)
        let diary = Diary()
        await bench.api.call(broken.request).onSuccess { _ in diary.add("success") }
            .onError { diary.add("error \($0.code)") }.finished()
        #expect(diary.entries == ["error encoding"])
        #expect(bench.server.activity.connectionCount == 0)
        try await expectNextCall(bench)
        #expect(bench.lines.count == 1)
    }

    @Test(
        "B-C12 A form with a missing image file fails before anything is sent, and works once the file exists",
        arguments: NetworkTransport.allCases
    )
    func missingImage(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(transport, ["POST /v1/post": [.respond(201, body: ExampleBench.post)]])
        let folder = try ExampleFolder()
        let gone = folder.url.appending(path: "gone.jpg")
        let create = PostController.create(NewPost(text: "Hi", images: [FormFile(contentsOf: gone)]))
            .addCustomError(.file, "The image is not there any more")
        let error = try #require(try await bench.failure(create))
        #expect(error.code == .file(.unreadable) && error.message == "The image is not there any more")
        #expect(bench.server.activity.connectionCount == 0)
        _ = try folder.file("gone.jpg", Data([1]))
        #expect(try await bench.api.send(create).id == 7)
    }

    @Test(
        "C44 An undecodable response fails once, with a mapping error that has the response; the next call works",
        arguments: NetworkTransport.allCases,
        ["", "<html>", "{}", #"{"token":7}"#, #"{"token":"t","expires":"tomorrow"}"#]
    )
    func undecodable(transport: NetworkTransport, body: String) async throws {
        let bench = try ExampleBench(
            transport,
            [
                "POST /v1/signup": [.respond(201, body: body)],
                "POST /v1/login": [.respond(200, body: ExampleBench.token)],
            ]
        )
        let signup = AuthController.signup(SignupRequest()).addCustomError(.mapping, "Unreadable")
        let error = try #require(try await bench.failure(signup))
        #expect(error.code.isKind(of: .mapping) && error.message == "Unreadable")
        #expect(error.response?.statusCode == 201 && error.response?.data == Data(body.utf8))
        let diary = Diary()
        await bench.api.call(signup).onSuccess { _ in diary.add("success") }.onError { diary.add($0.message) }
            .finished()
        #expect(diary.entries == ["Unreadable"])
        try await expectNextCall(bench)
    }

    @Test(
        "C74 A status without a name succeeds if it is desired, and otherwise fails with its own text",
        arguments: NetworkTransport.allCases
    )
    func namelessStatus(transport: NetworkTransport) async throws {
        let bench = try ExampleBench(
            transport,
            [
                "GET /v1/post/7": [.respond(777, body: ExampleBench.post)],
                "POST /v1/login": [.respond(200, body: ExampleBench.token)],
            ]
        )
        let get = PostController.get(id: 7)
        #expect(try await bench.api.send(get.desiredStatusCode(.ok, 777)).id == 7)
        let error = try #require(try await bench.failure(get.addCustomError(777, "Jackpot")))
        #expect(error.code == .unacceptableStatus && error.response?.statusCode == 777)
        #expect(error.message == "Jackpot")
        #expect(try await bench.failure(get.desiredStatusCode(776))?.response?.statusCode == 777)
        try await expectNextCall(bench)
    }
}
