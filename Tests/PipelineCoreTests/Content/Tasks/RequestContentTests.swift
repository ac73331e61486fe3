import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Custom RequestContent", .watched)
struct RequestContentTests {
    /// Writes a line for each of its words.
    private struct Lines: RequestContent {
        struct Failure: Error { let secret = "canary" }

        var words: [String] = []
        var failure: (any Error)?
        var isUpload = false

        func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
            if let failure { throw failure }
            request.body = .bytes(Data(words.joined(separator: "\n").utf8))
        }

        func adding(parameters: RequestParameters) -> Lines? {
            var copy = self
            copy.words += parameters.keys.sorted()
            return copy
        }

        func adding(parts: [MultipartFormBodyPart]) -> Lines? {
            var copy = self
            copy.words += parts.map(\.name)
            return copy
        }
    }

    /// Implements only what is required.
    private struct Bare: RequestContent {
        func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
            try request.setHeader(String(context.random.next()), for: "X-Number")
        }
    }

    /// Wraps a task and encodes its values with snake-case keys.
    private struct Wrapped: RequestContent {
        let task: RequestTask

        func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
            var context = context
            context.makeJSONEncoder = { _ in
                let encoder = JSONEncoder()
                encoder.keyEncodingStrategy = .convertToSnakeCase
                return encoder
            }
            context.makeFormEncoder = { _ in URLFormEncoder(keyEncoding: .convertToSnakeCase) }
            try task.encode(into: &request, context: context)
        }
    }

    private func request(_ task: RequestTask, _ method: HTTPRequest.Method = .post) throws -> PipelineRequest {
        try Endpoint(url: "https://example.com/x?a=1", method: method, task: task).makeRequest()
    }

    private func text(_ request: PipelineRequest) -> String {
        String(decoding: request.body.bytes ?? Data(), as: UTF8.self)
    }

    @Test("By default, content has its type's name as kind and no parameters, encoding or body")
    func defaults() throws {
        let task = RequestTask(Bare())
        #expect(task.kind.description == "Bare" && !task.isUpload && task.destination == nil)
        #expect(task.parameters == nil && task.encoding == nil && task.body == nil && task.urlParameters.isEmpty)
        let longer = task.adding(parameters: ["b": 2]).adding(parts: [.field("c", "3")])
        #expect(try request(longer).query == "a=1&b=2" && request(longer).body.isAbsent && longer.kind == task.kind)
        #expect(RequestTask(Lines(isUpload: true)).isUpload)
    }

    @Test("Content may accept added parameters and parts, and its query and destination are kept")
    func adding() throws {
        let file = URL(filePath: "/tmp/x")
        let task = RequestTask(Lines(words: ["w"]), urlParameters: ["b": 2], destination: .file(file))
        let longer = task.adding(parameters: ["p": 1]).adding(parts: [.field("f", "3")])
        let made = try request(longer)
        #expect(text(made) == "w\np\nf" && made.query == "a=1&b=2")
        #expect(longer.destination != nil && longer.urlParameters.keys.sorted() == ["b"])
    }

    @Test("A PipelineError from content is passed on, any other error becomes encoding, and nothing is sent")
    func failures() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(transport: transport)
        let task = RequestTask(Lines(failure: Lines.Failure()))
        let error = await pipelineError { _ = try await provider.request(TestTarget(method: .post, task: task)) }
        #expect(error?.code == .encoding && error?.underlyingError is Lines.Failure)
        #expect(error?.reason == "Lines could not be encoded")
        #expect(error.map { "\($0)".contains("canary") } == false)
        let own = RequestTask(Lines(failure: PipelineError(.file(.unreadable), "gone")))
        let code = await pipelineError { _ = try await provider.request(TestTarget(method: .post, task: own)) }?.code
        #expect(code == .file(.unreadable) && transport.sent.isEmpty)
    }

    @Test("Random numbers for content come from the provider's generator")
    func random() async throws {
        var numbers: [String?] = []
        for seed: UInt64 in [1, 1, 2] {
            let transport = ScriptedTransport(always: .status(200))
            let provider = Provider<TestTarget>(transport: transport, configuration: .init(random: .seeded(seed)))
            _ = try await provider.request(TestTarget(task: RequestTask(Bare())))
            numbers.append(transport.sent.first?.header("X-Number"))
        }
        #expect(numbers[0] != nil && numbers[0] == numbers[1] && numbers[0] != numbers[2])
    }

    @Test("Content that wraps a task chooses the encoder if the task has none of its own")
    func wrapping() throws {
        let value = ["bookTitle": 1]
        #expect(try text(request(RequestTask(Wrapped(task: .requestJSONEncodable(value))))) == #"{"bookTitle":1}"#)
        struct Book: Encodable { var bookTitle = 1 }
        #expect(try text(request(RequestTask(Wrapped(task: .requestJSONEncodable(Book()))))) == #"{"book_title":1}"#)
        #expect(try request(RequestTask(Wrapped(task: .requestQuery(Book())))).query == "a=1&book_title=1")
        let own = RequestTask.requestCustomJSONEncodable(Book(), encoder: JSONEncoder())
        #expect(try text(request(RequestTask(Wrapped(task: own)))) == #"{"bookTitle":1}"#)
    }

    @Test("Progress follows the request body if the content uploads, and the response body otherwise")
    func progress() async throws {
        for isUpload in [true, false] {
            let transport = ScriptedTransport(
                always: .answer { request, context in
                    context.report(.sent(2))
                    return PipelineResponse(request: request, statusCode: 200)
                }
            )
            let task = RequestTask(Lines(words: ["four"], isUpload: isUpload))
            let provider = Provider<TestTarget>(transport: transport)
            var values: [Double] = []
            for try await step in provider.requestWithProgress(TestTarget(method: .post, task: task)) {
                values.append(step.progress)
            }
            // A step that is not read in time may be dropped.
            #expect(Set(values).isSubset(of: isUpload ? [0.5, 1] : [0, 1]) && values.last == 1)
        }
    }
}
