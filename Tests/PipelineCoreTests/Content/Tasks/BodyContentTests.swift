import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RequestTask, bodies", .watched)
struct BodyContentTests {
    @Test("M14 Data becomes the body unchanged, without a Content-Type", arguments: ["", "\u{0}\r\n"])
    func data(_ text: String) throws {
        let request = try RequestTaskTests.request(.requestData(Data(text.utf8)))
        #expect(request.body.bytes == Data(text.utf8))
        #expect(!request.body.isAbsent)
        #expect(request.headers.isEmpty)
    }

    @Test("M23 A file becomes the body, without a Content-Type")
    func uploadFile() async throws {
        let folder = try TemporaryFolder()
        try folder.write("content", to: "a.png")
        let request = try RequestTaskTests.request(.uploadFile(folder.file("a.png")))
        #expect(request.body.fileURL == folder.file("a.png"))
        #expect(request.body.isReplayable)
        #expect(request.headers.isEmpty)
        #expect(try await request.body.collect(upTo: 100) == Data("content".utf8))
    }

    @Test("A file that cannot be sent fails before sending, and the error does not show its path")
    func unreadableFile() throws {
        let folder = try TemporaryFolder()
        let missing = folder.file("missing")
        let remote = try #require(URL(string: "https://example.com/etc/passwd"))
        let rows: [(URL, PipelineError.Code)] = [
            (missing, .file(.unreadable)), (folder.url, .file(.directory)), (remote, .file(.unreadable)),
            (URL(filePath: "/dev/null"), .file(.unreadable)),
        ]
        for (url, code) in rows {
            #expect {
                try RequestTaskTests.request(.uploadFile(url))
            } throws: { error in
                (error as? PipelineError)?.code == code && !"\(error)".contains(url.deletingLastPathComponent().path)
            }
        }
        #expect { try RequestTaskTests.request(.uploadFile(missing)) } throws: { !"\($0)".contains(folder.url.path) }
    }

    @Test("A file body from a stream task or a plugin is checked before the transport is called")
    func fileBodies() async throws {
        let folder = try TemporaryFolder()
        let remote = try #require(URL(string: "https://example.com/etc/passwd"))
        let rows: [(URL, PipelineError.Code)] = [
            (folder.file("missing"), .file(.unreadable)), (folder.url, .file(.directory)), (remote, .file(.unreadable)),
            (URL(filePath: "/dev/zero"), .file(.unreadable)),
        ]
        for (url, code) in rows {
            let transport = ScriptedTransport(always: .status(200))
            let stream = TestTarget(method: .post, task: .requestStream(.file(url)))
            let error = await pipelineError { _ = try await Provider<TestTarget>(transport: transport).request(stream) }
            #expect(error?.code == code)
            let plugin = PluginStack.prepare { request, _ in request.body = .file(url) }
            let provider = Provider<TestTarget>(transport: transport, plugins: [plugin])
            let other = await pipelineError { _ = try await provider.request(TestTarget(method: .post)) }
            #expect(other?.code == code)
            #expect(transport.sent.isEmpty)
        }
    }

    @Test("A stream becomes the body unchanged", arguments: [nil, 5])
    func requestStream(_ byteCount: Int?) throws {
        let stream = PipelineBody.stream(byteCount: byteCount) { AsyncStream<Data> { $0.finish() } }
        let request = try RequestTaskTests.request(.requestStream(stream))
        #expect(request.body.byteCount == byteCount)
        #expect(request.body.isReplayable)
        #expect(request.headers.isEmpty)
    }

    @Test(
        "B-M17 A method that carries no body refuses an upload",
        arguments: ["GET", "HEAD", "TRACE", "POST", "DELETE", "X"]
    )
    func bodilessMethod(_ name: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("content", to: "a")
        let method = try #require(HTTPRequest.Method(name))
        for task in [RequestTask.uploadFile(folder.file("a")), .requestStream(.bytes(Data()))] {
            let endpoint = Endpoint(url: "https://example.com", method: method, task: task)
            let isRefused = ["GET", "HEAD", "TRACE"].contains(name)
            var code: PipelineError.Code?
            do { _ = try endpoint.makeRequest() } catch { code = (error as? PipelineError)?.code }
            #expect(code == (isRefused ? .invalidRequest(.body) : nil))
        }
    }
}
