import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: requests", .watched)
struct GzipRequestTests: GzipSending {
    let transport = ScriptedTransport(always: .status(200))
    private let json = GzipBytes.json(20_000)

    @Test("An existing Content-Length is corrected, or removed for a stream")
    func contentLength() async throws {
        let fields = ["Content-Length": String(json.count), "Content-Type": "text/plain"]
        let whole = try await sent(.requestData(json), headers: fields)
        #expect(whole.headers[.contentLength] == whole.body.byteCount.map { String($0) })
        let stream = PipelineBody.stream(Pieces(json, of: 999), byteCount: json.count)
        let streamed = try await sent(.requestStream(stream), headers: fields)
        #expect(!streamed.headers.contains(.contentLength))
        #expect(streamed.body.byteCount == nil)
    }

    @Test("A missing or empty body is left alone")
    func nothing() async throws {
        for task in [RequestTask.requestPlain, .requestData(Data())] {
            let request = try await sent(task, [GzipPlugin(requestCompression: .always, minimumByteCount: 0)])
            #expect(request.body.byteCount == 0)
            #expect(!request.headers.contains(.contentEncoding))
        }
    }

    @Test("A file is compressed while it is sent, and can be replayed")
    func file() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        try json.write(to: url)
        let request = try await sent(.uploadFile(url), headers: ["Content-Type": "application/json"])
        #expect(request.body.isReplayable)
        let first = try await coded(request)
        #expect(GzipBytes.gunzip(first) == json)
        #expect(try await coded(request) == first)
    }

    @Test("The progress of a stream has a total only without compression", arguments: [true, false])
    func progress(isCompressed: Bool) async throws {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                context.report(.sent(5))
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [GzipPlugin(requestCompression: isCompressed ? .always : .never)]
        )
        let stream = PipelineBody.stream(Pieces(json, of: 999), byteCount: json.count)
        let target = Ask(method: .post, task: .requestStream(stream), headers: ["Content-Type": "text/plain"])
        var last: ProgressResponse?
        for try await step in provider.requestWithProgress(target) { last = step }
        #expect(last?.sent == .init(byteCount: 5, totalByteCount: isCompressed ? nil : json.count))
    }
}
