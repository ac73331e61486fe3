import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("FormFile", .watched)
struct FormFileTests {
    private let bench = APIBench(ScriptedTransport(always: .ok))

    private func send(_ request: APIRequest<IgnoredBody>) async throws -> PipelineRequest {
        _ = try await bench.api.send(request.method(.post))
        return try #require(bench.transport.sent.last)
    }

    @Test("A form file can be encoded only in a form, and is not decodable")
    func formFile() throws {
        let file = FormFile(Data([1, 2]), fileName: "a.bin", mimeType: "x/y")
        #expect(throws: EncodingError.self) { try ProviderConfiguration.Coders().jsonEncoder(for: file).encode(file) }
        #expect(!((FormFile.self as Any.Type) is any Decodable.Type))
        #expect("\(file)" == "\"a.bin\"")
        var text = ""
        dump(FormFile(contentsOf: URL(filePath: "/hunter2/a.bin")), to: &text)
        #expect(text.contains("a.bin") && !text.contains("hunter2"))
    }

    @Test("A form file whose length changes after the call began fails with bodyChanged")
    func changedFile() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.bin")
        try Data("1234".utf8).write(to: file)
        let bench = APIBench(
            .answer { request, _ in
                try Data("12345".utf8).write(to: file)
                _ = try await request.body.collect(upTo: 10_000)
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let post = PayloadTests.Post(text: "t", video: FormFile(contentsOf: file))
        let error = await pipelineError {
            _ = try await bench.api.send(APIRequest<IgnoredBody>("x", payload: post).method(.post))
        }
        #expect(error?.code == .bodyChanged)
    }

    @Test("A file on disk has the given name and media type")
    func namedFile() throws {
        let file = FormFile(contentsOf: URL(filePath: "/nowhere/a.jpg"), fileName: "b", mimeType: "x/y")
        let part = try #require(MultipartFormData(encoding: PayloadTests.Post(text: "t", video: file)).parts.last)
        #expect(part.name == "video" && part.fileName == "b" && part.mimeType == "x/y")
    }
}
