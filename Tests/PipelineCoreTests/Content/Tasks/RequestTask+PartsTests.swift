import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Tasks that upload forms", .tags(.concurrent), .realTime, .watched)
struct RequestTaskPartsTests {
    private static let form = MultipartFormData(boundary: "B", parts: [.field("a", "1")])

    private static let wire = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--\r\n"

    private static func request(
        _ task: RequestTask,
        _ method: HTTPRequest.Method = .post,
        _ headers: [String: String]? = nil
    ) throws -> PipelineRequest {
        try Endpoint(url: "https://example.com/p?a=b", method: method, task: task, httpHeaderFields: headers)
            .makeRequest()
    }

    @Test("M24 M62 A form becomes the body, and its Content-Type replaces the target's, whatever the name's case")
    func upload() throws {
        let task = RequestTask.uploadMultipartFormData(Self.form)
        let request = try Self.request(task, .post, ["content-TYPE": "text/plain", "X-A": "1"])
        #expect(request.body.bytes == Data(Self.wire.utf8))
        #expect(request.head.path == "/p?a=b")
        #expect(request.headers[values: .contentType] == ["multipart/form-data; boundary=B"])
        #expect(request.headers.count == 2)
    }

    @Test("M26 URL parameters of a form go into the query, sorted, with brackets and numeric booleans")
    func composite() throws {
        let parameters: RequestParameters = ["z": true, "y": [2, 1], "c d": "é"]
        let task = RequestTask.uploadCompositeMultipartFormData(Self.form, urlParameters: parameters)
        let request = try Self.request(task)
        #expect(request.head.path == "/p?a=b&c%20d=%C3%A9&y%5B%5D=2&y%5B%5D=1&z=1")
        #expect(request.body.bytes == Data(Self.wire.utf8))
        #expect(request.headers[.contentType] == "multipart/form-data; boundary=B")
    }

    @Test(
        "M69 A method that carries no body fails with a typed error, and every other method sends the form",
        arguments: [
            ("GET", false), ("HEAD", false), ("TRACE", false), ("POST", true), ("PUT", true), ("PATCH", true),
            ("DELETE", true),
            ("OPTIONS", true), ("QUERY", true), ("get", true),
        ]
    )
    func methods(_ name: String, _ carriesBody: Bool) throws {
        let method = try #require(HTTPRequest.Method(name))
        for task: RequestTask in [
            .uploadMultipartFormData(Self.form), .uploadCompositeMultipartFormData(Self.form, urlParameters: ["a": 1]),
        ] {
            if carriesBody {
                #expect(try Self.request(task, method).body.bytes == Data(Self.wire.utf8))
            } else {
                let error = #expect(throws: PipelineError.self) { try Self.request(task, method) }
                #expect(error?.code == .invalidRequest(.body))
                #expect(error?.reason == "a \(name) carries no body: name a method that does, as .post")
            }
        }
    }

    @Test("M61 The boundary comes from the provider's generator, so equal seeds give equal boundaries")
    func providerRandom() async throws {
        var boundaries: [String?] = []
        for seed: UInt64 in [1, 1, 2] {
            let transport = ScriptedTransport(always: .status(200))
            let provider = Provider<TestTarget>(transport: transport, configuration: .init(random: .seeded(seed)))
            let task = RequestTask.uploadMultipartFormData([.field("a", "1")])
            _ = try await provider.request(TestTarget(method: .post, task: task))
            boundaries.append(transport.sent.first?.headers[.contentType])
        }
        #expect(boundaries[0]?.hasPrefix("multipart/form-data; boundary=pipeline-") == true)
        #expect(boundaries[0] == boundaries[1])
        #expect(boundaries[0] != boundaries[2])
        let own = try Self.request(.uploadMultipartFormData([.field("a")])).headers[.contentType]
        #expect(own != (try Self.request(.uploadMultipartFormData([.field("a")])).headers[.contentType]))
    }

    @Test("M65 M69 A form that cannot be sent fails the call before sending, and the next call works")
    func failures() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(transport: transport)
        let missing = MultipartFormBodyPart(.file(URL(filePath: "/nowhere/at/all.txt")), name: "f")
        let codes: [(MultipartFormData, PipelineError.Code)] = [
            ([], .encoding), ([.field("a"), missing], .file(.unreadable)),
        ]
        for (form, code) in codes {
            let error = await pipelineError {
                _ = try await provider.request(TestTarget(method: .put, task: .uploadMultipartFormData(form)))
            }
            #expect(error?.code == code)
        }
        #expect(transport.sent.isEmpty)
        _ = try await provider.request(TestTarget(method: .put, task: .uploadMultipartFormData(Self.form)))
        #expect(transport.sent.count == 1)
    }

    @Test("M70 Parts added by an endpoint closure are sent")
    func endpointClosure() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(transport: transport) { target in
            var form = Self.form
            form.parts.append(.field("added", "2"))
            return Endpoint(target).replacing(task: .uploadMultipartFormData(form))
        }
        _ = try await provider.request(TestTarget(method: .post, task: .uploadMultipartFormData(Self.form)))
        let parts = try await MultipartReader.parts(of: try #require(transport.sent.first))
        #expect(parts.map(\.name) == ["a", "added"])
    }

    @Test("M71 A status that the target does not accept fails an upload too")
    func validation() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(500)))
        let task = RequestTask.uploadMultipartFormData(Self.form)
        let error = await pipelineError {
            _ = try await provider.request(TestTarget(method: .post, task: task, validationType: .successCodes))
        }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test("F10 A part that changes while it is sent fails the call with bodyChanged")
    func changed() async throws {
        let short = PipelineBody.stream(byteCount: 9) { AsyncStream<Data> { $0.finish() } }
        let transport = ScriptedTransport(
            always: .answer { request, _ in
                _ = try await request.body.collect(upTo: 1_000)
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let task = RequestTask.uploadMultipartFormData([MultipartFormBodyPart(short, name: "s")])
        let error = await pipelineError {
            _ = try await Provider<TestTarget>(transport: transport).request(TestTarget(method: .post, task: task))
        }
        #expect(error?.code == .bodyChanged)
    }

    @Test("A form of bytes, a file and a stream reaches the server intact, before and after a redirect")
    func overTheWire() async throws {
        let server = try LoopbackServer { request in
            request.target == "/old"
                ? [.respond(308, headers: [("Location", "/new")])] : [.respond(200, body: "ok")]
        }
        let folder = try TemporaryFolder()
        let file = try folder.file("cover.png", byteCount: 100_000)
        let stream = PipelineBody.stream {
            AsyncStream {
                $0.yield(Data("str".utf8))
                $0.yield(Data("eam".utf8))
                $0.finish()
            }
        }
        let form: MultipartFormData = [
            .field("title", "Solaris"), MultipartFormBodyPart(.file(file), name: "cover"),
            MultipartFormBodyPart(stream, name: "notes", fileName: "n.txt"),
        ]
        let provider = Provider<TestTarget>(transport: URLSessionTransport())
        let target = TestTarget(
            base: server.url.absoluteString,
            path: "/old",
            method: .post,
            task: .uploadMultipartFormData(form)
        )
        _ = try await provider.request(target)
        #expect(server.requests.count == 2)
        for request in server.requests {
            let type = try #require(request.values(of: "Content-Type").first)
            let parts = try MultipartReader.parts(of: request.body, contentType: type)
            #expect(parts.map(\.name) == ["title", "cover", "notes"])
            #expect(parts.map(\.fileName) == [nil, "cover.png", "n.txt"])
            #expect(parts.map(\.mimeType) == [nil, "image/png", "text/plain"])
            let contents = [Data("Solaris".utf8), try Data(contentsOf: file), Data("stream".utf8)]
            let isSame = parts.map(\.content) == contents
            #expect(isSame)
        }
    }
}
