import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Common mistakes with APIRequest", .watched)
struct APIRequestMistakesTests {
    private struct Form: FormURLEncodedPayload { var a = 1 }

    private struct Lines: APIPayload {
        var task: RequestTask
        func encode(to encoder: any Encoder) throws {}
        func makeTask(with coders: ProviderConfiguration.Coders) -> RequestTask { task }
    }

    private static let payloads: [any APIPayload] = [
        PayloadTests.Signup(), [PayloadTests.Signup()], Form(), PayloadTests.Post(text: "t"),
        Lines(task: .requestData(Data("a".utf8))),
    ]

    @Test(
        "A payload with a method that carries no body is refused, and nothing is sent",
        arguments: [HTTPRequest.Method.get, .head, .trace],
        payloads.indices
    )
    func payloadWithoutBody(method: HTTPRequest.Method, index: Int) async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("x", payload: Self.payloads[index]).method(method)
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.code == .invalidRequest(.body))
        #expect(error?.reason == "a \(method) carries no body: name a method that does, as .post")
        #expect(bench.transport.sent.isEmpty)
        _ = try await bench.api.send(request.method(.delete))
        #expect(bench.transport.sent.count == 1)
    }

    @Test("C2 The method defaults to POST with a payload and to GET without one")
    func defaultMethod() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let server = ServerURL(base: "https://api.example.com")
        for request in [
            APIRequest<IgnoredBody>("x", payload: PayloadTests.Signup()).serverURL(server),
            APIRequest<IgnoredBody>("x", payload: PayloadTests.Signup()),
            APIRequest<IgnoredBody>("x").payload(PayloadTests.Signup()),
        ] {
            #expect(request.method == .post)
            #expect(request.method(.put).method == .put)
            _ = try await bench.api.send(request)
            #expect(bench.transport.sent.last?.method == .post)
        }
        #expect(APIRequest<IgnoredBody>("x").method == .get)
    }

    @Test("A file in JSON, a URL-encoded form or a query is refused by its key, and its path is not shown")
    func misplacedFile() async throws {
        struct Picture: JSONPayload { var images = [FormFile(contentsOf: URL(filePath: "/secret/cat.jpg"))] }
        struct Card: FormURLEncodedPayload { var image = FormFile(Data("bytes".utf8), fileName: "cat.jpg") }
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("x").method(.post)
        for (request, place) in [
            (request.payload(Picture()), "images.0"), (request.payload(Card()), "image"),
            (request.query(Card()), "image"),
        ] {
            let error = try #require(await pipelineError { _ = try await bench.api.send(request) })
            #expect(error.code == .encoding)
            #expect(error.reason.contains(place), "\(error.reason)")
            #expect(!"\(error) \(String(describing: error.underlyingError))".contains("secret"))
        }
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("A query payload is allowed with any method, and an explicit task is sent unchanged")
    func bodiesOfGet() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x", payload: Lines(task: .requestQuery(["a": 1]))))
        _ = try await bench.api.send(APIRequest<IgnoredBody>("search").task(.requestJSONEncodable(["a": 1])))
        #expect(bench.paths == ["x?a=1", "search"] && bench.sentText == #"{"a":1}"#)
    }

    @Test("A task without its own encoder uses the client's coders and the request's date strategy")
    func tasks() async throws {
        struct Moment: Encodable, Sendable {
            var ok = true
            var at = Date(timeIntervalSince1970: 5)
        }
        var bench = APIBench(ScriptedTransport(always: .ok))
        bench.api.coders.dateEncodingStrategy = .secondsSince1970
        bench.api.coders.form.boolEncoding = .literal
        let request = APIRequest<IgnoredBody>("x").method(.post)
        _ = try await bench.api.send(request.task(.requestJSONEncodable(Moment())))
        #expect(bench.sentText == #"{"at":5,"ok":true}"#)
        _ = try await bench.api.send(request.task(.requestFormURLEncodable(Moment())))
        #expect(bench.sentText == "ok=true&at=5")
        let query = request.task(.requestQuery(Moment()))
        _ = try await bench.api.send(query)
        _ = try await bench.api.send(query.dateEncodingStrategy(.millisecondsSince1970))
        let own = URLFormEncoder(boolEncoding: .numeric, dateEncoding: .secondsSince1970)
        _ = try await bench.api.send(request.task(.requestQuery(Moment(), encoder: own)))
        #expect(bench.paths.suffix(3) == ["x?ok=true&at=5", "x?ok=true&at=5000", "x?ok=1&at=5"])
        _ = try await bench.api.send(request.task(.requestFormURLEncodable(Moment(), encoder: own)))
        #expect(bench.sentText == "ok=1&at=5")
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        _ = try await bench.api.send(request.task(.requestCustomJSONEncodable(Moment(), encoder: encoder)))
        #expect(bench.sentText == #"{"at":-978307195,"ok":true}"#)
    }

    @Test("An error before sending names the request, and plugins see it")
    func unsent() async throws {
        let journal = Journal()
        let seen: PluginStack = .process { result, _ in
            if case .failure(let error) = result { journal.add("\(error)") }
        }
        var bench = APIBench(ScriptedTransport(always: .ok), plugins: [seen])
        let request = APIRequest<IgnoredBody>("posts", "").method(.delete)
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.request?.head.path == "/v1/posts/" && error?.request?.method == .delete)
        let word = await pipelineError {
            _ = try await bench.api.send(APIRequest<IgnoredBody>("x").bearer("two words"))
        }
        #expect(word?.request?.headers.isEmpty == true)
        bench.api.server = nil
        _ = await pipelineError { _ = try await bench.api.send(request) }
        #expect(
            journal.entries == [
                "invalidRequest.path: a part of the endpoint is empty; DELETE api.example.com/v1/posts/",
                "invalidRequest.credential: the token is not one word; GET api.example.com/v1/x",
                "invalidRequest.path: a part of the endpoint is empty",
            ]
        )
    }

    @Test("A decoding error says what is wrong with the body")
    func answers() async throws {
        struct User: Decodable { var name: String }
        let bench = APIBench(.status(200, body: "\n<html>"), .status(200, body: "many"), .status(200, body: "7"))
        let html = await pipelineError { _ = try await bench.api.send(APIRequest<User>("x")) }
        #expect(html?.reason == "the body does not decode to User: it is HTML or XML, not JSON")
        let number = await pipelineError { _ = try await bench.api.send(APIRequest<Int>("x")) }
        #expect(number?.reason == "the body is not a valid Int")
        let date = await pipelineError { _ = try await bench.api.send(APIRequest<Date>("x")) }
        #expect(date?.code == .mapping(.object) && date?.reason.contains("JSON") == false)
    }

    @Test("The description of an environment name is the name itself")
    func environment() {
        #expect("\(APIEnvironments.Name.dev) \(APIEnvironments.Name(rawValue: "local"))" == "dev local")
    }

    @Test("A call reports at most 0.999 before its end, alone and in a batch")
    func progress() async throws {
        let journal = Journal()
        let transport = ScriptedTransport(
            always: .answer { request, context in
                for count in [1, 500, 1000] { context.report(.sent(count)) }
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let bench = APIBench(transport)
        let upload = APIRequest<IgnoredBody>("x").method(.post)
            .task(.requestStream(.bytes(Data(repeating: 7, count: 1000))))
        _ = await upload.run(in: bench.api, observer: APIObserver(onProgress: { journal.add("\($0)") }))
        #expect(journal.entries == ["0.001", "0.5", "0.999"])
        let batch = Journal()
        _ = await [upload, upload].flatten().run(
            in: bench.api,
            observer: APIObserver(onProgress: { batch.add("\($0)") })
        )
        #expect(batch.entries.last == "1.0")
        #expect(batch.entries.compactMap(Double.init).filter { $0 != 1 }.allSatisfy { $0 <= 0.999 })
    }
}
